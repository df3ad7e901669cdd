// Observes in the database when workers lose their leases. The row of such a worker is missing or marked by
// `recovered_at`. A lost lease has two moments: the last read that found the row unmarked, and the next read. After the
// first moment, other workers may use the worker's permits and slots of queues.
import { setTimeout as sleep } from "node:timers/promises";
import type { Span } from "../../../worker/most.ts";
import { machineTime } from "../../../worker/run-log.ts";
import type { Run } from "../../../worker/runs.ts";
import type { Stand } from "../../field/stand.ts";

const POLL_MS = 25;
const ALIVE = "select id from worker._private_workers where not metadata ? 'recovered_at'";

/** The two moments of a lease, by machineTime(). `missing` is null while the row is unmarked. */
interface Seen {
  last: number;
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
   * Returns the runs as a limit counts them. A run counts at most until the first moment of its worker's lost lease. A
   * run that starts between the two moments does not count.
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
      // Without a worker of this library, the rows are not read, so that other stands are not disturbed.
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
