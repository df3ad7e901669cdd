// A stream is a set of tasks whose jobs are fetched together in the safe mode. The main stream has the tasks without a
// limit. Each group of tasks under the same limits has another stream, so that jobs that wait for a limit do not delay
// other jobs. Further streams fetch the jobs in managed queues: named queues under a limit (managed-stream.ts).
import type { Clock } from "../../base/clock.ts";
import type { Logger } from "../../base/logger.ts";
import type { JobKind } from "../../queue/fetch/fetch-form.ts";
import { type FetchedJob, inOrder } from "../execute/fetched-job.ts";
import { FetchPlan, type FetchRequest, LONG_FETCH } from "../fetch/fetch-plan.ts";
import type { ManagedFetch } from "../fetch/managed-fetch.ts";
import type { TaskParameters } from "../fetch/task-parameters.ts";
import type { HeldLimit } from "../limits/held-limit.ts";
import type { LimitedGroup } from "../limits/session-limits.ts";
import type { LocalQueueConfig } from "../options/local-queue-options.ts";
import { LocalQueue, type LocalQueueParts } from "./local-queue.ts";
import type { RoundTrips, RoundTripsOf } from "./round-trips.ts";

/** How long a call of noteEvidence() counts, in milliseconds. */
const EVIDENCE_MS = 1_000;

/** The maximum number of unstarted jobs for each permit, if the worker got fewer permits than it wanted. */
const AHEAD_OF_A_PERMIT = 8;

export interface StreamParts {
  readonly clock: Clock;
  readonly config: LocalQueueConfig;
  readonly free: JobKind;
  readonly tasks: TaskParameters;
  readonly trips: RoundTrips;
  /** The tasks of the stream and their limits; null: the tasks have no limit. */
  readonly group: LimitedGroup | null;
  readonly queueParts: Pick<LocalQueueParts, "hooks" | "workerId" | "giveBack" | "delayOver">;
}

export class Stream {
  readonly group: LimitedGroup | null;
  /** The fetch of a stream of managed queues; null in the other streams. */
  readonly managed: ManagedFetch | null = null;
  readonly plan: FetchPlan;
  readonly queue: LocalQueue;
  readonly tasks: TaskParameters;
  readonly #trips: RoundTripsOf;
  readonly #limits: readonly HeldLimit[];
  /** The number of the stream's running jobs; always 0 in the main stream and in streams of managed queues. */
  running = 0;
  readonly #clock: Clock;
  /** Whether the stream may send quick fetches. */
  readonly #isEager: boolean;
  #evidentUntilMs = 0;

  constructor({ clock, config, free, tasks, trips, group, queueParts }: StreamParts) {
    this.#clock = clock;
    this.group = group;
    this.tasks = tasks;
    this.#limits = group?.limits ?? [];
    this.plan = new FetchPlan(clock, free);
    this.#trips = trips.ofStream(this);
    this.#isEager = config.refetchDelay === null;
    this.queue = new LocalQueue(group === null ? config : { ...config, adaptive: true }, {
      ...{ clock, plan: this.plan, trips: this.#trips },
      ...queueParts,
    });
  }

  /** The number of jobs that fetches under way request. */
  protected get requested(): number {
    return this.#trips.requested;
  }

  /** Whether there is nothing to fetch. */
  get isDrained(): boolean {
    return this.plan.isDrained;
  }

  /** Whether the stream's jobs need permits from the database. */
  get needsPermits(): boolean {
    return this.#limits.some(({ id, concurrency }) => id !== null && concurrency !== null);
  }

  /** Whether there may be unstarted jobs. */
  get hasWork(): boolean {
    return this.queue.size > 0 || !this.plan.isDrained;
  }

  /**
   * Whether there is evidence that the stream needs permits and tokens. A stream without evidence requests none. An
   * announcement of jobs is no evidence, because each announcement wakes all streams.
   */
  get hasEvidence(): boolean {
    if (this.queue.size > 0 || this.running > 0) return true;
    return !this.plan.isDrained && this.#clock.monotonic() < this.#evidentUntilMs;
  }

  /** Records that there may be more jobs. */
  noteEvidence(): void {
    this.#evidentUntilMs = this.#clock.monotonic() + EVIDENCE_MS;
  }

  /** How many jobs may start now under the limits of the stream. Infinity: any number. */
  get startable(): number {
    let startable = Number.POSITIVE_INFINITY;
    for (const limit of this.#limits) startable = Math.min(startable, limit.startable);
    return startable;
  }

  /** Returns how many jobs may soon run at once under the stream's limits other than `limit`. Infinity: any number. */
  attainableBeside(limit: HeldLimit): number {
    const others = this.#limits.filter((one) => one !== limit);
    return Math.min(Number.POSITIVE_INFINITY, ...others.map(({ attainable }) => attainable));
  }

  /**
   * Whether a fetch may be sent. Of all streams, only one fetch at a time may take up to a minute, because the other
   * connections are needed for results.
   */
  protected get mayFetch(): boolean {
    if (this.plan.isDrained || this.queue.isDelayed) return false;
    return !(this.plan.isPatient && this.#trips.hasPatient);
  }

  /** Returns the number of jobs to request now. */
  demand(freeSlots: number): number {
    if (!this.mayFetch) return 0;
    if (this.group === null) return this.queue.demand(freeSlots);
    if (this.#limits.some(({ letsFetch }) => !letsFetch)) return 0;
    return this.queue.demand(Math.min(freeSlots, this.startable), this.#mostUnstarted());
  }

  request(demand: number, mayBeQuick: boolean): FetchRequest {
    return this.plan.request(demand, mayBeQuick && this.#isEager);
  }

  /** Returns whether nothing more is ready. */
  learn(jobs: readonly FetchedJob[], request: FetchRequest, queuesAreFree: boolean | null) {
    if (jobs.length > 0) this.noteEvidence();
    return this.plan.learn(jobs, request, queuesAreFree);
  }

  /** Returns whether the request timed out. `logger` logs a timeout, unless the time limit was already a minute. */
  learnFailure(error: Error, logger: Logger | null): boolean {
    const isFirst = !this.plan.isPatient;
    if (!this.plan.learnFailure(error)) return false;
    if (isFirst) logger?.warn({ error: error.message }, LONG_FETCH);
    return true;
  }

  jobBegan(): void {
    this.running++;
    for (const limit of this.#limits) limit.jobBegan();
  }

  jobEnded(): void {
    this.jobLeft();
    this.plan.countEnded(1);
  }

  /** Called when a running job has ended, or no longer belongs to this stream. */
  jobLeft(): void {
    this.running--;
    for (const limit of this.#limits) limit.jobEnded();
  }

  jobJoined(): void {
    this.running++;
    for (const limit of this.#limits) limit.running++;
  }

  /** Returns the maximum number of unstarted jobs. A further job would be locked only to wait for a permit or token. */
  #mostUnstarted(): number {
    let most = Number.POSITIVE_INFINITY;
    for (const { bucket, tokens, isShort, permits } of this.#limits) {
      if (bucket !== null) most = Math.min(most, tokens);
      if (isShort) most = Math.min(most, AHEAD_OF_A_PERMIT * permits);
    }
    return most;
  }
}

/** Returns the stream with the most urgent job that may start; `main` if there is no such job. */
export function mostUrgent(main: Stream, others: readonly Stream[]): Stream {
  let best = main;
  let { head } = best.queue;
  for (const stream of others) {
    const other = stream.queue.head;
    if (other === undefined || stream.startable === 0) continue;
    if (head !== undefined && inOrder(head, other) <= 0) continue;
    [best, head] = [stream, other];
  }
  return best;
}
