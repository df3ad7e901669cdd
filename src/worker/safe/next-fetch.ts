// What the next fetch of the safe mode looks at: everything, only what is behind the cursor, named
// queues or not, or first of all a few jobs that were announced to a worker at rest. Learned from
// announcements and from the fetches before it.
import { type Clock, monotonic } from "../../base/clock.ts";
import type { JobKind } from "../../queue/fetch/fetch-form.ts";
import type { ClaimedJob } from "../execute/claimed-job.ts";
import { BEGINNING, FetchCursor } from "../fetch/fetch-cursor.ts";
import { FetchPace } from "../fetch/fetch-pace.ts";
import type { KnownTasks } from "../fetch/known-tasks.ts";
import { ReadyCounter } from "../fetch/ready-counter.ts";
import { type FetchRequest, type FlushAnswer, leavesLocked } from "./flush-and-fetch.ts";

export class NextFetch {
  readonly #tasks: KnownTasks;
  readonly #free: JobKind;
  readonly #cursor: FetchCursor;
  readonly #readiness = new ReadyCounter();
  readonly #pace = new FetchPace();
  /** Some named queue may be free: fetches look at queued jobs, too. */
  #queuesAreFree = true;
  /** Jobs were announced to a worker at rest, and nothing has been fetched since. */
  #isFirstNews = false;

  constructor(tasks: KnownTasks, free: JobKind, clock: Clock) {
    this.#tasks = tasks;
    this.#free = free;
    this.#cursor = new FetchCursor(clock);
  }

  /** It would find nothing. */
  get isDrained(): boolean {
    return this.#readiness.isDrained;
  }

  /** Something may have become ready. */
  raise(): void {
    this.#readiness.raise();
  }

  /** The same, anywhere; `isNews`: just now. True when nothing was ready before. */
  wake(isNews: boolean): boolean {
    const wasDrained = this.#readiness.raise();
    this.#cursor.reset();
    this.#isFirstNews = wasDrained && isNews;
    return wasDrained;
  }

  /** The request for up to `wanted` jobs. `mayBeQuick`: a few of the most urgent ones will do for now. */
  request(wanted: number, mayBeQuick: () => boolean): FetchRequest {
    // Of named queues and those of another mode it sees nothing.
    const sees = !this.#queuesAreFree && this.#free === "all";
    const isQuick = this.#isFirstNews && sees && mayBeQuick();
    this.#isFirstNews = false;
    return {
      tasks: this.#tasks,
      want: this.#pace.limit(wanted),
      isQuick,
      isPatient: this.#pace.isPatient,
      queues: this.#queuesAreFree,
      free: this.#free,
      from: this.#cursor.position,
      sentAtMs: monotonic(),
      readiness: this.#readiness.count,
    };
  }

  /** The next request may take long. */
  get isPatient(): boolean {
    return this.#pace.isPatient;
  }

  /** True when PostgreSQL has stopped a request for its length: the next one may take longer. */
  failed(error: unknown): boolean {
    return this.#pace.failed(error);
  }

  /** What a request has found. True when nothing is ready any more. */
  learn(jobs: readonly ClaimedJob[], request: FetchRequest, answer: FlushAnswer): boolean {
    // It says nothing of what is less urgent: a fetch of everything follows.
    if (request.isQuick) return false;
    const { want, queues, from, sentAtMs, readiness } = request;
    const isFull = jobs.length >= want;
    this.#pace.learn(isFull, monotonic() - sentAtMs);
    const sawQueues = queues || !answer.queuesAreFree;
    // Behind a cursor one only sees what is behind it.
    const isLast = !isFull && sawQueues && from === BEGINNING;
    this.#queuesAreFree = answer.queuesAreFree;
    this.#cursor.learn({ jobs, isFull, hasQueues: answer.queuesAreFree, sentAtMs });
    if (leavesLocked(request, jobs)) this.#readiness.raise();
    return isLast && this.#readiness.drained(readiness);
  }
}
