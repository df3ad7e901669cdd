// A stream that may start nothing checks whether a job is ready at all, before it takes permits or tokens for it.
import type { Clock } from "../../base/clock.ts";
import { mayHaveReady } from "../../queue/fetch/has-ready.ts";
import type { WorkerConnections } from "../connection/connections.ts";
import type { TaskParameters } from "../fetch/task-parameters.ts";
import type { Stream } from "./stream.ts";

/** The first interval between checks after a quiet time, and the longest one. It doubles with each check. */
const SOON_MS = 20;
const EVERY_MS = 500;

const NEVER = { atMs: Number.NEGATIVE_INFINITY, everyMs: 0 };

export interface ReadyChecksParts {
  readonly clock: Clock;
  readonly connections: Pick<WorkerConnections, "take" | "giveBack">;
  /** Called after a check. */
  changed(): void;
}

export class ReadyChecks {
  readonly #parts: ReadyChecksParts;
  readonly #last = new WeakMap<Stream, { readonly atMs: number; readonly everyMs: number }>();

  constructor(parts: ReadyChecksParts) {
    this.#parts = parts;
  }

  /** Checks if that is due. Returns the milliseconds until the next check. */
  consider(stream: Stream): number {
    if (stream.queue.size > 0 || stream.plan.isDrained || stream.startable > 0) {
      return Number.POSITIVE_INFINITY;
    }
    if (stream.hasEvidence) return EVERY_MS;
    const nowMs = this.#parts.clock.monotonic();
    const { atMs, everyMs } = this.#last.get(stream) ?? NEVER;
    if (nowMs < atMs + everyMs) return atMs + everyMs - nowMs;
    const isQuiet = nowMs - atMs > 2 * EVERY_MS;
    const waitMs = isQuiet ? SOON_MS : Math.min(EVERY_MS, 2 * everyMs);
    this.#last.set(stream, { atMs: nowMs, everyMs: waitMs });
    const { mark } = stream.plan;
    void this.#mayHaveReady(stream.tasks).then((mayHave) => {
      if (mayHave) stream.noteEvidence();
      else stream.plan.sawNothing(mark);
      this.#parts.changed();
    });
    return waitMs;
  }

  async #mayHaveReady({ identifiers, pauses }: TaskParameters): Promise<boolean> {
    const { connections } = this.#parts;
    const connection = connections.take();
    if (connection === undefined) return true;
    try {
      return await mayHaveReady(connection.database, identifiers, pauses);
    } catch {
      return true; // Then a fetch follows, and reports the error if it fails, too.
    } finally {
      connections.giveBack(connection);
    }
  }
}
