// Fetches of jobs of managed queues: queues that limits are for.
//
//   queues are made managed (managed-queues.ts) ──▶ slots, tokens, jobs ──▶ none: again when a token is due
import type { Clock } from "../../base/clock.ts";
import { builtPerForm, type Database, query } from "../../database/database.ts";
import { FetchedRows } from "../../queue/fetch/fetched-rows.ts";
import { type ManagedTake, takeManaged } from "../../queue/fetch/take-managed.ts";
import type { WorkerConnection } from "../connection/worker-connection.ts";
import type { FetchRequest } from "./fetch-plan.ts";
import type { ManagedQueues } from "./managed-queues.ts";
import type { TaskParameters } from "./task-parameters.ts";

/** The pause after a fetch that found slots or jobs locked by another session. */
const CONTENDED_MS = 10;
/** Workers that wait for the same token request it at different times. */
const JITTER_MS = 5;

export interface ManagedJobs {
  readonly rows: FetchedRows;
  readonly nowSeconds: number;
}

export class ManagedFetch {
  readonly #clock: Clock;
  readonly #queues: ManagedQueues;
  /** Whether some limit of queues has a rate. */
  #hasRates = false;
  #dueAtMs: number | null = null;
  /** Those of the queues at the last fetch. */
  #changes = 0;

  constructor(clock: Clock, queues: ManagedQueues) {
    this.#clock = clock;
    this.#queues = queues;
  }

  limitsChanged(hasRates: boolean): void {
    this.#hasRates = hasRates;
    this.#queues.limitsChanged();
  }

  /** When another fetch may find more than the last one, by the monotonic clock; null: only after news. */
  get dueAtMs(): number | null {
    const { changes, dueAtMs } = this.#queues;
    if (changes !== this.#changes) return 0;
    const atMs = Math.min(this.#dueAtMs ?? Number.POSITIVE_INFINITY, dueAtMs);
    return atMs === Number.POSITIVE_INFINITY ? null : atMs;
  }

  /** Takes the requested number of jobs at most. */
  async take(
    connection: WorkerConnection,
    workerId: string,
    { identifiers, runShares, forbiddenFlags }: TaskParameters,
    { want, isPatient }: FetchRequest,
  ): Promise<ManagedJobs> {
    await this.#queues.manage(connection);
    this.#changes = this.#queues.changes;
    const form = { flags: forbiddenFlags !== null, rates: this.#hasRates };
    const values = [
      identifiers,
      want,
      workerId,
      runShares,
      ...(form.flags ? [forbiddenFlags] : []),
    ];
    const work = (db: Database) => query<ManagedTake>(db, statementOf(form), values);
    const [row] = isPatient
      ? await connection.runPatiently(work)
      : await connection.withSettings(() => work(connection.database));
    const { now_s, is_contended, next_ms } = row as ManagedTake;
    const rows = new FetchedRows(row as ManagedTake);
    const nextMs = is_contended ? Math.min(next_ms ?? CONTENDED_MS, CONTENDED_MS) : next_ms;
    this.#dueAtMs =
      nextMs === null ? null : this.#clock.monotonic() + nextMs + Math.random() * JITTER_MS;
    return { rows, nowSeconds: now_s };
  }
}

const statementOf = builtPerForm(takeManaged);
