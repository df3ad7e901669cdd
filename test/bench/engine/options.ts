// What the command line of the suite may say.
import { parseArgs } from "node:util";

export interface BenchOptions {
  /** Experiments to run, by name; empty = all. */
  readonly only: readonly string[];
  readonly rounds: number;
  /** Jobs of one drain. */
  readonly jobs: number;
  readonly quick: boolean;
  readonly soak: boolean;
  /** Write RESULTS.md. */
  readonly write: boolean;
}

export function benchOptions(args: readonly string[]): BenchOptions {
  const { values } = parseArgs({
    args: [...args],
    options: {
      only: { type: "string", default: "" },
      rounds: { type: "string" },
      jobs: { type: "string" },
      quick: { type: "boolean", default: false },
      soak: { type: "boolean", default: false },
    },
  });
  const only = values.only.split(",").filter((name) => name !== "");
  return {
    only,
    rounds: whole(values.rounds, values.quick ? 1 : 3),
    jobs: whole(values.jobs, values.quick ? 50_000 : 200_000),
    quick: values.quick,
    soak: values.soak,
    write: only.length === 0 && !values.quick && !values.soak,
  };
}

function whole(text: string | undefined, otherwise: number): number {
  const value = text === undefined ? otherwise : Number(text);
  if (!Number.isInteger(value) || value < 1) throw new Error(`not a whole number: ${text}`);
  return value;
}
