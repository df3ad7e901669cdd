// Fetches jobs of managed queues: named queues that have slots in the database, because a limit applies to them.
import type { Clock } from "../../base/clock.ts";
import { builtPerForm, type Database, idArray, query } from "../../database/database.ts";
import { FetchedRows } from "../../queue/fetch/fetched-rows.ts";
import {
  type ManagedForm,
  type ManagedTake,
  pickManaged,
  takeManaged,
} from "../../queue/fetch/take-managed.ts";
import type { WorkerConnection } from "../connection/worker-connection.ts";
import type { FetchRequest } from "./fetch-plan.ts";
import type { ManagedQueues } from "./managed-queues.ts";
import type { TaskParameters } from "./task-parameters.ts";

/** The longest pause after a fetch that found slots or jobs that other sessions had locked or changed. */
const CONTENDED_MS = 10;
/** The maximum of a random time that is added to a pause, so that several workers do not fetch at the same time. */
const JITTER_MS = 5;

/** The parameters that all fetches of the safe mode have. */
export interface ManagedRequest {
  readonly request: FetchRequest;
  readonly tasks: TaskParameters;
  /** The ids of jobs, and the negated ids of queues, that the fetch leaves out (execute/refusals.ts). */
  readonly excluded: readonly string[];
}

/** A job that a fetch would take. `queue`: the negated id of the job's named queue; null without one. */
export interface FetchHead {
  readonly id: string;
  readonly queue: string | null;
}

export interface ManagedJobs {
  readonly rows: FetchedRows;
  readonly nowSeconds: number;
}

export class ManagedFetch {
  readonly #clock: Clock;
  readonly #queues: ManagedQueues;
  /** Whether some limit of queues has a rate or a back-off. */
  #hasRates = false;
  #dueAtMs: number | null = null;
  #changes = 0;

  constructor(clock: Clock, queues: ManagedQueues) {
    this.#clock = clock;
    this.#queues = queues;
  }

  limitsChanged(hasRates: boolean): void {
    this.#hasRates = hasRates;
    this.#queues.limitsChanged();
  }

  /**
   * If the last fetch returned no jobs: the time, by the monotonic clock, from which another fetch may find jobs. 0:
   * now; null: only after an event, such as an announcement of jobs.
   */
  get dueAtMs(): number | null {
    const { changes, dueAtMs } = this.#queues;
    if (changes !== this.#changes) return 0;
    const atMs = Math.min(this.#dueAtMs ?? Number.POSITIVE_INFINITY, dueAtMs);
    return atMs === Number.POSITIVE_INFINITY ? null : atMs;
  }

  /** If the last fetch returned no jobs: whether another fetch before the next event would also return none. */
  get isDone(): boolean {
    const { changes, isDone } = this.#queues;
    return changes === this.#changes && this.#dueAtMs === null && isDone;
  }

  /** Makes queues managed if that is due, then takes at most the requested number of runs. */
  async take(
    connection: WorkerConnection,
    workerId: string,
    fetch: ManagedRequest,
  ): Promise<ManagedJobs> {
    await this.#queues.manage(connection);
    this.#changes = this.#queues.changes;
    const { form, values } = this.#formOf(workerId, fetch);
    const { isPatient } = fetch.request;
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

  /** Locks the rows of the jobs that take() would take, until the current transaction ends. Returns these jobs. */
  pick(db: Database, workerId: string, fetch: ManagedRequest): Promise<FetchHead[]> {
    const { form, values } = this.#formOf(workerId, fetch);
    return query<FetchHead>(db, pickStatementOf(form), values);
  }

  #formOf(
    workerId: string,
    { request, tasks, excluded }: ManagedRequest,
  ): { readonly form: ManagedForm; readonly values: unknown[] } {
    const { identifiers, runShares, forbiddenFlags } = tasks;
    const form = {
      flags: forbiddenFlags !== null,
      rates: this.#hasRates,
      excluded: excluded.length > 0,
    };
    const values: unknown[] = [identifiers, request.want, workerId, runShares];
    if (form.flags) values.push(forbiddenFlags);
    if (form.excluded) values.push(idArray(excluded));
    return { form, values };
  }
}

const statementOf = builtPerForm(takeManaged);
const pickStatementOf = builtPerForm(pickManaged);
