// What a connection of the fast mode asks for, and how the answers are read.
import { type Clock, monotonic } from "../../base/clock.ts";
import { settled } from "../../base/settled.ts";
import { builtOnce, query, type Statement } from "../../database/database.ts";
import { ClaimedRows } from "../../queue/fetch/claimed-rows.ts";
import type { ClaimedColumns } from "../../queue/fetch/job-columns.ts";
import { lockStatement } from "../../queue/fetch/lock-jobs.ts";
import type { WorkerConnection } from "../connection/worker-connection.ts";
import type { ClaimedJob } from "../execute/claimed-job.ts";
import { FetchCursor } from "../fetch/fetch-cursor.ts";
import { FetchPace } from "../fetch/fetch-pace.ts";
import type { KnownTasks } from "../fetch/known-tasks.ts";
import { Prefetch } from "../fetch/prefetch.ts";
import { type QuickAnswer, QuickFetches } from "../fetch/quick-fetches.ts";

export interface FastFetched {
  readonly jobs: readonly ClaimedJob[];
  /** There is more. */
  readonly isFull: boolean;
  /** There is more than this connection can take. */
  readonly isForOthers: boolean;
}

const NOTHING: FastFetched = { jobs: [], isFull: false, isForOthers: false };

/** Jobs a transaction takes at the most; less where they are slow. */
const LARGEST_BATCH = 2_000;

export class FastFetch {
  readonly #connection: WorkerConnection;
  readonly #tasks: KnownTasks;
  readonly #lock: Statement;
  readonly #quick: QuickFetches;
  readonly #cursor: FetchCursor;
  readonly #prefetch: Prefetch;
  readonly #pace = new FetchPace();

  constructor(connection: WorkerConnection, tasks: KnownTasks, clock: Clock) {
    this.#connection = connection;
    this.#tasks = tasks;
    this.#lock = builtOnce(lockStatement({ flags: tasks.forbiddenFlags !== null }));
    this.#quick = new QuickFetches(tasks, null);
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
    return this.#connection.keepsStatements && this.#quick.mayBeNext();
  }

  /** Begins a transaction and locks jobs that have just become ready: up to `slots`, and few. */
  async quick(slots: number): Promise<FastFetched> {
    const { database } = this.#connection;
    const sent = this.#connection.together(() => [
      this.#connection.begin(),
      this.#quick.fetch(database, slots),
    ]);
    const [, fetched] = await settled(sent);
    const { rows, isFull } = fetched as QuickAnswer;
    const jobs = await this.#tasks.jobsInTransaction(rows, database);
    return { jobs, isFull: true, isForOthers: isFull };
  }

  /** Begins a transaction and locks jobs: those that `slots` can start, and what is soon used up. */
  async fetch(slots: number): Promise<FastFetched> {
    this.#prefetch.measure();
    const { isPatient } = this.#pace;
    const want = this.#pace.limit(Math.min(LARGEST_BATCH, this.#prefetch.ahead + slots));
    const [, answer] = await settled([
      isPatient ? this.#connection.beginPatiently() : this.#connection.begin(),
      this.#locked(want, isPatient),
    ]);
    return answer as FastFetched;
  }

  async #locked(want: number, isPatient: boolean): Promise<FastFetched> {
    const { database, patient } = this.#connection;
    const db = isPatient ? patient : database;
    const { identifiers, forbiddenFlags } = this.#tasks;
    const sentAtMs = monotonic();
    const { priority, runAtSeconds } = this.#cursor.position;
    const values: unknown[] = [identifiers, want, priority, runAtSeconds];
    if (forbiddenFlags !== null) values.push(forbiddenFlags);
    const [answer] = await query<ClaimedColumns>(db, this.#lock, values);
    if (answer === undefined) return NOTHING;
    const jobs = await this.#tasks.jobsInTransaction([new ClaimedRows(answer)], db);
    const isFull = jobs.length === want;
    this.#pace.learn(isFull, monotonic() - sentAtMs);
    this.#cursor.learn({ jobs, isFull, hasQueues: false, sentAtMs });
    return { jobs, isFull, isForOthers: isFull };
  }
}
