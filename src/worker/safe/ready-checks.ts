// Checks whether streams (stream.ts) have ready jobs: only then does a stream without free permits or tokens request
// more. One statement checks all such streams, because it reads the ready jobs of all tasks anyway.
import type { Clock } from "../../base/clock.ts";
import { tasksMaybeReady } from "../../queue/fetch/has-ready.ts";
import type { WorkerConnections } from "../connection/connections.ts";
import type { WorkerConnection } from "../connection/worker-connection.ts";
import type { Stream } from "./stream.ts";

/** The first interval after a quiet time. Each check doubles the interval, up to EVERY_MS. */
const SOON_MS = 20;
const EVERY_MS = 500;
/** After a check, the interval is at least PAUSE times the check's duration, up to MAX_PAUSE_MS. */
const PAUSE = 20;
const MAX_PAUSE_MS = 5_000;

export interface ReadyChecksParts {
  readonly clock: Clock;
  readonly connections: Pick<WorkerConnections, "take" | "giveBack">;
  /** Called after a check. */
  changed(): void;
}

export class ReadyChecks {
  readonly #parts: ReadyChecksParts;
  #lastMs = Number.NEGATIVE_INFINITY;
  #everyMs = 0;
  #isUnderWay = false;

  constructor(parts: ReadyChecksParts) {
    this.#parts = parts;
  }

  /**
   * If a check is due, starts to check the streams that lack a permit or a token. Streams with other evidence of ready
   * jobs are not checked. Returns the milliseconds until the next call is due; Infinity: no call is needed.
   */
  consider(streams: readonly Stream[]): number {
    const waiting = streams.filter(
      ({ queue, plan, startable }) => queue.size === 0 && !plan.isDrained && startable === 0,
    );
    if (waiting.length === 0) return Number.POSITIVE_INFINITY;
    const unknown = waiting.filter(({ hasEvidence }) => !hasEvidence);
    if (unknown.length === 0 || this.#isUnderWay) return EVERY_MS;
    const nowMs = this.#parts.clock.monotonic();
    const leftMs = this.#lastMs + this.#everyMs - nowMs;
    if (leftMs > 0) return leftMs;
    const connection = this.#parts.connections.take();
    // As soon as a connection is idle, the fetcher calls consider() again.
    if (connection === undefined) return EVERY_MS;
    const isQuiet = nowMs - this.#lastMs > 2 * EVERY_MS;
    this.#everyMs = isQuiet ? SOON_MS : Math.min(EVERY_MS, 2 * this.#everyMs);
    this.#lastMs = nowMs;
    void this.#check(connection, unknown);
    return this.#everyMs;
  }

  async #check(connection: WorkerConnection, streams: readonly Stream[]): Promise<void> {
    const { clock, connections, changed } = this.#parts;
    this.#isUnderWay = true;
    const marks = streams.map(({ plan }) => plan.mark);
    const ready = await readyOf(connection, streams);
    for (const [at, stream] of streams.entries()) {
      if (ready === null || stream.group?.names.some((name) => ready.has(name))) {
        stream.noteEvidence();
      } else stream.plan.sawNothing(marks[at] ?? 0);
    }
    const pauseMs = Math.min(MAX_PAUSE_MS, PAUSE * (clock.monotonic() - this.#lastMs));
    // A failed check does not show how long the read takes.
    if (ready !== null) this.#everyMs = Math.max(this.#everyMs, pauseMs);
    this.#isUnderWay = false;
    connections.giveBack(connection);
    changed();
  }
}

/** Returns null if the read failed. The next fetch reports an error that persists. */
function readyOf(
  { database }: WorkerConnection,
  streams: readonly Stream[],
): Promise<ReadonlySet<string> | null> {
  const names = streams.flatMap(({ group }) => group?.names ?? []);
  const pauses = streams.some(({ tasks }) => tasks.pauses);
  return tasksMaybeReady(database, [...new Set(names)], pauses).catch(() => null);
}
