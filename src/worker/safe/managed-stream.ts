// A stream (stream.ts) of jobs in managed queues, which are named queues under a limit. A fetched run of a queue
// occupies a slot of the queue even before the run starts. So the stream requests no more runs than can start.
import type { Clock } from "../../base/clock.ts";
import type { QueueToken } from "../../queue/limits/tokens.ts";
import type { FetchedJob } from "../execute/fetched-job.ts";
import type { FetchRequest } from "../fetch/fetch-plan.ts";
import { ManagedFetch } from "../fetch/managed-fetch.ts";
import type { ManagedQueues } from "../fetch/managed-queues.ts";
import { Lapse } from "../limits/lapse.ts";
import type { QueueLimits } from "../limits/session-limits.ts";
import { Stream, type StreamParts } from "./stream.ts";

export interface ManagedStreamParts extends StreamParts {
  readonly queues: ManagedQueues;
  /** The stream of the same tasks, whose local queue the fetched jobs join. Null if the tasks have no limit. */
  readonly owner: Stream | null;
}

export class ManagedStream extends Stream {
  override readonly managed: ManagedFetch;
  readonly owner: Stream | null;
  readonly #clock: Clock;
  /** When a job's tokens lapse (monotonic clock), and when the tokens were taken (the database's clock). */
  readonly #tokens = new WeakMap<FetchedJob, { untilMs: number; takenAtSeconds: number }>();
  #lapseMs = Number.POSITIVE_INFINITY;
  readonly #lapse: Lapse;
  #mark = "";

  constructor(parts: ManagedStreamParts) {
    super(parts);
    this.owner = parts.owner;
    this.#clock = parts.clock;
    this.#lapse = new Lapse(parts.clock);
    this.managed = new ManagedFetch(parts.clock, parts.queues);
  }

  get target(): Stream {
    return this.owner ?? this;
  }

  override demand(freeSlots: number): number {
    if (!this.mayFetch) return 0;
    const startable = Math.min(freeSlots, this.startable);
    return Math.max(0, startable - this.target.queue.size - this.requested);
  }

  override learn(jobs: readonly FetchedJob[], request: FetchRequest): boolean {
    if (jobs.length > 0) this.noteEvidence();
    return this.plan.learnManaged(jobs.length, request);
  }

  override get isDrained(): boolean {
    return this.plan.isDrained && this.managed.isDone;
  }

  /** Applies the limits. Returns the milliseconds until the next fetch is due; Infinity if no timer is needed. */
  prepare({ mark, hasRates, lapseMs }: QueueLimits): number {
    this.#lapseMs = lapseMs;
    if (mark !== this.#mark) {
      this.#mark = mark;
      this.managed.limitsChanged(hasRates);
      this.plan.raise();
    }
    const { dueAtMs } = this.managed;
    if (!this.plan.isDrained || dueAtMs === null) return Number.POSITIVE_INFINITY;
    const waitMs = dueAtMs - this.#clock.monotonic();
    if (waitMs > 0) return waitMs;
    this.plan.raise();
    return Number.POSITIVE_INFINITY;
  }

  /** Records the tokens that a fetch took for its jobs. `sentAtMs`: the fetch's time, by the monotonic clock. */
  jobsFetched(jobs: readonly FetchedJob[], sentAtMs: number, takenAtSeconds: number): void {
    if (this.#lapseMs === Number.POSITIVE_INFINITY || jobs.length === 0) return;
    const untilMs = this.#lapse.untilMs(sentAtMs, this.#lapseMs);
    for (const job of jobs) this.#tokens.set(job, { untilMs, takenAtSeconds });
  }

  /** Returns the tokens that were taken with these jobs. */
  tokensOf(jobs: readonly FetchedJob[]): readonly QueueToken[] {
    return jobs.flatMap((job) => {
      const tokens = this.#tokens.get(job);
      const queue = job.queueName;
      if (tokens === undefined || queue === null) return [];
      return [{ queue, takenAtSeconds: tokens.takenAtSeconds }];
    });
  }

  /** Whether the job's tokens have lapsed, so that the job may not start. */
  hasLapsed(job: FetchedJob): boolean {
    const tokens = this.#tokens.get(job);
    return tokens !== undefined && this.#clock.monotonic() > tokens.untilMs;
  }
}
