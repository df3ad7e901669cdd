// A stream that may start nothing looks whether a job is ready at all, before it takes permits or tokens for it.
import type { Clock } from "../../base/clock.ts";
import { mayHaveReady } from "../../queue/fetch/has-ready.ts";
import type { WorkerConnections } from "../connection/connections.ts";
import type { TaskParameters } from "../fetch/task-parameters.ts";
import type { Stream } from "./stream.ts";

const EVERY_MS = 500;

export interface ReadyLooksParts {
  readonly clock: Clock;
  readonly connections: Pick<WorkerConnections, "take" | "giveBack">;
  /** Called after a look. */
  changed(): void;
}

export class ReadyLooks {
  readonly #parts: ReadyLooksParts;
  readonly #lookedAtMs = new WeakMap<Stream, number>();

  constructor(parts: ReadyLooksParts) {
    this.#parts = parts;
  }

  /** Looks if that is due. Returns the milliseconds until the next look. */
  consider(stream: Stream): number {
    if (stream.queue.size > 0 || stream.plan.isDrained || stream.startable > 0) {
      return Number.POSITIVE_INFINITY;
    }
    const nowMs = this.#parts.clock.monotonic();
    const nextMs = (this.#lookedAtMs.get(stream) ?? Number.NEGATIVE_INFINITY) + EVERY_MS;
    if (nowMs < nextMs || stream.hasEvidence) return Math.max(1, nextMs - nowMs);
    this.#lookedAtMs.set(stream, nowMs);
    const { mark } = stream.plan;
    void this.#mayHaveReady(stream.tasks).then((mayHave) => {
      if (mayHave) stream.found();
      else stream.plan.sawNothing(mark);
      this.#parts.changed();
    });
    return EVERY_MS;
  }

  async #mayHaveReady({ identifiers, pauses }: TaskParameters): Promise<boolean> {
    const { connections } = this.#parts;
    const connection = connections.take();
    if (connection === undefined) return true;
    try {
      return await mayHaveReady(connection.database, identifiers, pauses);
    } catch {
      return true; // The next fetch finds out what is wrong.
    } finally {
      connections.giveBack(connection);
    }
  }
}
