// What a connection of the fast mode asks for, and how the answers are read.
import type { Clock } from "../../base/clock.ts";
import { settled } from "../../base/settled.ts";
import { builtOnce, type Database, query, type Statement } from "../../database/database.ts";
import { FetchedRows } from "../../queue/fetch/fetched-rows.ts";
import type { FetchedColumns } from "../../queue/fetch/job-columns.ts";
import { lockStatement } from "../../queue/fetch/lock-jobs.ts";
import { type QuickRow, quickStatement } from "../../queue/fetch/quick-fetch.ts";
import type { WorkerConnection } from "../connection/worker-connection.ts";
import { type FetchedJob, loadedJobs } from "../execute/fetched-job.ts";
import { FetchPlan, type FetchRequest } from "../fetch/fetch-plan.ts";
import type { TaskParameters } from "../fetch/task-parameters.ts";

/** Jobs a transaction takes at the most; less where they are slow. */
const LARGEST_BATCH = 2_000;

export interface FastFetched {
  readonly jobs: readonly FetchedJob[];
  /** There is more than this connection can take. */
  readonly isFull: boolean;
}

export class FastFetch {
  readonly plan: FetchPlan;
  readonly #connection: WorkerConnection;
  readonly #tasks: TaskParameters;
  readonly #lock: Statement;
  readonly #quick: Statement;

  constructor(connection: WorkerConnection, tasks: TaskParameters, clock: Clock) {
    const flags = tasks.forbiddenFlags !== null;
    this.plan = new FetchPlan(clock, "fast");
    this.#connection = connection;
    this.#tasks = tasks;
    this.#lock = builtOnce(lockStatement({ flags }));
    this.#quick = quickStatement({ flags, mode: "row" });
  }

  /** A few of the jobs that have just become ready; null where a quick fetch does not pay. */
  quickRequest(slots: number): FetchRequest | null {
    const request = this.plan.request(slots, this.#connection.keepsStatements);
    return request.isQuick ? request : null;
  }

  /** Jobs for these slots, and those that are soon used up. */
  request(slots: number): FetchRequest {
    this.plan.measure();
    return this.plan.request(Math.min(LARGEST_BATCH, this.plan.ahead + slots), false);
  }

  /** Begins a transaction and locks jobs in it. */
  async fetch(request: FetchRequest): Promise<FastFetched> {
    const connection = this.#connection;
    const { isPatient, isQuick } = request;
    const db = isPatient ? connection.patient : connection.database;
    const sent = connection.together(() => [
      isPatient ? connection.beginPatiently() : connection.begin(),
      isQuick ? this.#lockQuickly(db, request) : this.#lockJobs(db, request),
    ]);
    const [, rows] = await settled(sent);
    // A query that fails here has ended the transaction, which frees them all.
    const jobs = await loadedJobs(rows as readonly FetchedRows[], db);
    this.plan.learn(jobs, request, false);
    return { jobs, isFull: jobs.length === request.want };
  }

  async #lockJobs(db: Database, { want, start }: FetchRequest): Promise<FetchedRows[]> {
    const values = this.#values(want, start.priority, start.runAtSeconds);
    const rows = await query<FetchedColumns>(db, this.#lock, values);
    return rows.map((row) => new FetchedRows(row));
  }

  async #lockQuickly(db: Database, { want }: FetchRequest): Promise<FetchedRows[]> {
    const rows = await query<QuickRow>(db, this.#quick, this.#values(want));
    return rows.map(({ job }) => FetchedRows.ofOne(job));
  }

  #values(...values: unknown[]): unknown[] {
    const { identifiers, forbiddenFlags } = this.#tasks;
    return [identifiers, ...values, ...(forbiddenFlags === null ? [] : [forbiddenFlags])];
  }
}
