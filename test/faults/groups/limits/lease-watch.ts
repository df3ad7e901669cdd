// When leases were lost, as the database shows it. There are two moments for each lease: when the worker's row was last
// seen without the mark of a recovery, and when it was first seen to be marked or missing. After the first moment, the
// worker's permits and slots of queues may be free, so its jobs count only until that moment.
import { setTimeout as sleep } from "node:timers/promises";
import type { Span } from "../../../worker/most.ts";
import { machineTime } from "../../../worker/run-log.ts";
import type { Run } from "../../../worker/runs.ts";
import type { Stand } from "../../field/stand.ts";

const POLL_MS = 25;
const ALIVE = "select id from worker._private_workers where not metadata ? 'recovered_at'";

interface Seen {
  last: number;
  /** Null: it was there at the last look. */
  missing: number | null;
}

export class LeaseWatch {
  readonly #stand: Stand;
  readonly #seen = new Map<string, Seen>();
  readonly #over = new AbortController();
  readonly #running: Promise<void>;

  constructor(stand: Stand) {
    this.#stand = stand;
    this.#running = this.#watch();
  }

  async stop(): Promise<void> {
    this.#over.abort();
    await this.#running;
  }

  /**
   * Returns the runs as a limit counts them: from the start to the end, the death of the process, or the loss of the
   * lease. A job that starts after the loss counts in full; one that starts between the two moments does not count.
   */
  spans(runs: readonly Run[]): Span[] {
    const lostBy = new Map(
      this.#stand.members.map(({ by, workerId, events }) => {
        const later = events.filter(({ event }) => event === "leaseLost");
        const ids = [workerId, ...later.map(({ newWorkerId }) => String(newWorkerId))];
        return [by, ids.flatMap((id) => this.#seen.get(id) ?? [])];
      }),
    );
    return runs.flatMap(({ n, by, from, to }) => {
      let end = to;
      for (const { last, missing } of lostBy.get(by) ?? []) {
        if (missing === null || from >= missing) continue;
        if (from > last) return [];
        end = Math.min(end, Math.max(from, last));
      }
      return [{ n, by, from, to: end }];
    });
  }

  async #watch(): Promise<void> {
    while (!this.#over.signal.aborted) {
      const t = machineTime();
      // While PostgreSQL is away nothing is known. While no member lives, another stand is measured.
      const rows = this.#stand.living.some(({ isStock }) => !isStock)
        ? await this.#stand.sql<{ id: string }>(ALIVE).catch(() => null)
        : null;
      if (rows !== null) this.#look(t, new Set(rows.map(({ id }) => id)));
      await sleep(POLL_MS, undefined, { signal: this.#over.signal }).catch(() => {});
    }
  }

  #look(t: number, ids: ReadonlySet<string>): void {
    for (const id of ids) this.#seen.set(id, { last: t, missing: null });
    for (const [id, seen] of this.#seen) {
      if (!ids.has(id)) seen.missing ??= t;
    }
  }
}
