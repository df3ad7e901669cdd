// What a connection of the fast mode asks for, and how the answers are read.
import { type Clock, monotonic } from "../../base/clock.ts";
import { settled } from "../../base/settled.ts";
import { builtOnce, query, type Statement } from "../../database/database.ts";
import { ClaimedRows } from "../../queue/fetch/claimed-rows.ts";
import { type LockAnswer, lockStatement } from "../../queue/fetch/lock-jobs.ts";
import { quickLockStatement } from "../../queue/fetch/quick-fetch.ts";
import type { WorkerConnection } from "../connection/worker-connection.ts";
import type { ClaimedJob } from "../execute/claimed-job.ts";
import { FetchCursor } from "../fetch/fetch-cursor.ts";
import { FetchPace } from "../fetch/fetch-pace.ts";
import type { KnownTasks } from "../fetch/known-tasks.ts";
import { Prefetch } from "../fetch/prefetch.ts";
import { QuickFetches } from "../fetch/quick-fetches.ts";

export interface Fetched {
  readonly jobs: readonly ClaimedJob[];
  /** There is more. */
  readonly isFull: boolean;
  /** There is more than this connection can take, and others could. */
  readonly isForOthers: boolean;
  /** Others hold the queues of all that there is, perhaps for a moment only. */
  readonly isContended: boolean;
  /** Jobs stand in the way that are left to the safe mode. */
  readonly leavesJobs: boolean;
}

/**
 * The connections of a worker's fast mode divide the named queues between them, by their ids: nobody
 * sees what row locks hold, so two would fetch the same jobs, and be in each other's way.
 */
export interface QueueShare {
  readonly share: number;
  readonly shares: number;
}

const NOTHING: Fetched = {
  jobs: [],
  isFull: false,
  isForOthers: false,
  isContended: false,
  leavesJobs: false,
};

/** Jobs a transaction takes at the most; less where they are slow. */
const LARGEST_BATCH = 2_000;

export class FastFetch {
  readonly #connection: WorkerConnection;
  readonly #tasks: KnownTasks;
  readonly #queues: QueueShare | null;
  readonly #lock: Statement;
  readonly #quick: QuickFetches;
  readonly #cursor: FetchCursor;
  readonly #prefetch: Prefetch;
  readonly #pace = new FetchPace();

  /** `queues`: null = takes no jobs of named queues. */
  constructor(
    connection: WorkerConnection,
    tasks: KnownTasks,
    queues: QueueShare | null,
    clock: Clock,
  ) {
    this.#connection = connection;
    this.#tasks = tasks;
    this.#queues = queues;
    const flags = tasks.forbiddenFlags !== null;
    this.#lock = builtOnce(lockStatement({ queues: queues !== null, flags }));
    const { schema } = connection.database;
    this.#quick = new QuickFetches({
      schema,
      tasks,
      statement: quickLockStatement,
      values: [],
      begins: true,
    });
    this.#cursor = new FetchCursor(clock);
    this.#prefetch = new Prefetch(clock);
  }

  /** Anything may have become ready: the next fetch looks at everything. */
  resetCursor(): void {
    this.#cursor.reset();
  }

  /** Jobs of earlier fetches have ended. */
  finished(count: number): void {
    this.#prefetch.finished(count);
  }

  /** A fetch failed, perhaps because its jobs were too large together, or their index too long. */
  failed(error: unknown): void {
    this.#pace.failed(error);
    this.#prefetch.forget();
  }

  /** Whether a quick fetch is the better way to what has just become ready. */
  mayBeQuick(): boolean {
    return this.#queues === null && this.#connection.keepsStatements && this.#quick.mayBeNext();
  }

  /** Begins a transaction and locks jobs that have just become ready: up to `slots`, and few. */
  async quick(slots: number): Promise<Fetched> {
    const { rows, isFull } = await this.#quick.fetch(this.#connection, slots);
    const jobs = await this.#tasks.jobsInTransaction(rows, this.#connection.database);
    return { ...NOTHING, jobs, isFull: true, isForOthers: isFull };
  }

  /** Begins a transaction and locks jobs: those that `slots` can start, and what is soon used up. */
  async fetch(slots: number): Promise<Fetched> {
    this.#prefetch.measure();
    const { isPatient } = this.#pace;
    const want = this.#pace.limit(Math.min(LARGEST_BATCH, this.#prefetch.ahead + slots));
    const [, answer] = await settled([
      isPatient ? this.#connection.beginPatiently() : this.#connection.begin(),
      this.#locked(want, slots, isPatient),
    ]);
    return answer as Fetched;
  }

  async #locked(want: number, slots: number, isPatient: boolean): Promise<Fetched> {
    const { database, patient } = this.#connection;
    const db = isPatient ? patient : database;
    const { identifiers, forbiddenFlags } = this.#tasks;
    const sentAtMs = monotonic();
    const { priority, runAtSeconds } = this.#cursor.position;
    const values: unknown[] = [identifiers, want, priority, runAtSeconds];
    if (this.#queues !== null) values.push(this.#queues.share, this.#queues.shares, slots);
    if (forbiddenFlags !== null) values.push(forbiddenFlags);
    const [answer] = await query<LockAnswer>(db, this.#lock, values);
    if (answer === undefined) return NOTHING;
    const jobs = await this.#tasks.jobsInTransaction(new ClaimedRows(answer), db);
    const isFull = jobs.length === want || (answer.more && jobs.length > 0);
    this.#pace.learn(isFull, monotonic() - sentAtMs);
    this.#cursor.learn({ jobs, isFull, hasQueues: answer.queued, sentAtMs });
    return {
      jobs,
      isFull,
      isForOthers: isFull && jobs.some(({ isQueued }) => !isQueued),
      isContended: answer.more && jobs.length === 0,
      leavesJobs: answer.left_over,
    };
  }
}
