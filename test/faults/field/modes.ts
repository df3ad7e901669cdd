// The modes in which workers are tested. A group of faults has a test stand (stand.ts) for each selected mode.
import type { WorkerOptions } from "../../../src/worker/options/worker-options.ts";

export interface Mode {
  readonly name: "safe" | "fast" | "beside stock";
  readonly fastLane: NonNullable<WorkerOptions["fastLane"]>;
  /** Whether a Graphile worker runs on the same tables. */
  readonly stock: boolean;
}

// The time limit of the fast lane: so short that some jobs exceed it.
const limitMs = 20;

export const MODES: readonly Mode[] = [
  { name: "safe", fastLane: false, stock: false },
  { name: "fast", fastLane: { limitMs }, stock: false },
  { name: "beside stock", fastLane: false, stock: true },
];

/** The name for files, databases and the command line. */
export type ModeSlug = "safe" | "fast" | "beside-stock";

/** Returns `beside-stock` for `beside stock`. */
export const slug = ({ name }: Mode): ModeSlug => (name === "beside stock" ? "beside-stock" : name);
