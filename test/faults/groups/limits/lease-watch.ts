// Observes in the database when workers lose their leases. After the loss, the worker's row is missing or marked by
// `recovered_at`. The rows are read at intervals, so each lost lease has two moments: when the row was last seen
// unmarked, and when the row was first seen to be marked or missing. After the first moment other workers may use the
// worker's permits and slots of queues, so the worker's jobs count only until the first moment.
import { setTimeout as sleep } from "node:timers/promises";
import type { Span } from "../../../worker/most.ts";
import { machineTime } from "../../../worker/run-log.ts";
import type { Run } from "../../../worker/runs.ts";
import type { Stand } from "../../field/stand.ts";

const POLL_MS = 25;
const ALIVE = "select id from worker._private_workers where not metadata ? 'recovered_at'";

/** The two moments of a lease, by machineTime(). `missing`, the second moment, is null while the row is unmarked. */
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
   * Returns the runs as a limit counts them. A run counts until its end, or until the first moment of its worker's
   * lost lease if this moment is earlier. A run that starts between the two moments does not count. A run that starts
   * after the second moment is under the worker's new lease.
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
      // While no worker of this library runs in this stand, the rows are not read, so that the measurements of
      // another stand are not disturbed. If PostgreSQL cannot be reached, nothing is recorded.
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
