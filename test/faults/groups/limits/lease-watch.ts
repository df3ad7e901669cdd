// Observes in the database when workers lose their leases. Each lost lease has two moments. At the first one, the
// worker's row was seen for the last time without the mark `recovered_at`. At the second one, the row was first seen to
// be marked or missing. After the first moment other workers may use the permits and the slots of queues that the
// worker had. So the worker's jobs count only until the first moment.
import { setTimeout as sleep } from "node:timers/promises";
import type { Span } from "../../../worker/most.ts";
import { machineTime } from "../../../worker/run-log.ts";
import type { Run } from "../../../worker/runs.ts";
import type { Stand } from "../../field/stand.ts";

const POLL_MS = 25;
const ALIVE = "select id from worker._private_workers where not metadata ? 'recovered_at'";

/** The two moments of a lease, by machineTime(). */
interface Seen {
  /** When the row was last seen without the mark. */
  last: number;
  /** When the row was first seen to be marked or missing; null if that was not seen. */
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
   * Returns the runs as a limit counts them. A run counts from its start until it ends, its process ends, or the first
   * moment of its worker's lost lease, whichever is earliest. A run that starts between the two moments of the lost
   * lease does not count. After the second moment the worker has a new lease, so a run that starts then is not affected
   * by the lost lease.
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
      // The rows are not read while no worker of this library runs in this stand, because another stand may be measured
      // at that time. If PostgreSQL cannot be reached, nothing is recorded.
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
