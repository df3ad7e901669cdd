// The worker's fast lanes as one, and when they begin: a worker takes its first jobs in the classic
// way, which counts attempts before they run. Otherwise a job that kills its process would be taken
// anew by the next one for ever, without its attempts ever being used up.
import { messageOf } from "../base/errors.ts";
import type { ClaimedJob } from "./claimed-job.ts";
import { ALL_JOBS, type Claims, type JobKinds } from "./claims.ts";
import { FastLane } from "./fast-lane.ts";
import { FastTake } from "./fast-take.ts";
import type { Held } from "./held.ts";
import type { Hooks } from "./hooks.ts";
import { JobExecutor } from "./job-executor.ts";
import type { Lane } from "./lane.ts";
import { Outcomes } from "./outcomes.ts";
import type { Slots } from "./slots.ts";
import type { ContextSource } from "./task-context.ts";
import type { FastLaneConfig, WorkerConfig } from "./worker-options.ts";

/** Jobs that a worker takes in the classic way first, unless the queue is empty before. */
const CLASSIC_JOBS = 1_000;

/** What the dispatcher lends its fast lanes. */
export interface FastLaneLink<E> {
  readonly slots: Slots<E>;
  readonly claims: Claims<E>;
  /** The worker's own outcomes. */
  readonly classic: Outcomes;
  /** Jobs ended, or a lane went idle. */
  onChange(): void;
  /** Ends of jobs are written. */
  onRan(): void;
  /** Jobs with keys are ready: they are for the ordinary lanes. */
  onKeyed(): void;
}

export class FastLanes<E> implements Held {
  readonly #lanes: readonly FastLane<E>[];
  readonly #executors: readonly JobExecutor<E>[];
  readonly #takesQueues: boolean;
  #classicJobs = 0;
  #isActive = false;
  #isStopped = false;

  constructor(
    config: WorkerConfig<E>,
    parts: {
      readonly workerId: string;
      readonly hooks: Hooks;
      readonly source: ContextSource<E>;
      readonly lanes: readonly Lane[];
    },
    link: FastLaneLink<E>,
  ) {
    const { hooks, workerId, source } = parts;
    const { limit_ms, queues } = config.fastLane as FastLaneConfig;
    this.#takesQueues = queues;
    const made = parts.lanes.map((lane, share) => {
      const outcomes = new Outcomes();
      const executor = new JobExecutor(config.tasks, source, outcomes, hooks, config.timeout_ms);
      const ofQueues = queues ? { share, shares: parts.lanes.length } : null;
      const fast = new FastLane({
        ...link,
        lane,
        executor,
        outcomes,
        hooks,
        workerId,
        take: new FastTake(lane, link.claims, config.forbiddenFlags, ofQueues),
        limit_ms,
        onFull: () => this.#lanes.find(({ isResting }) => isResting)?.pulse(),
        onError: (error) =>
          config.logger.warn({ error: messageOf(error) }, "a fast lane starts over"),
      });
      return { executor, fast };
    });
    this.#lanes = made.map(({ fast }) => fast);
    this.#executors = made.map(({ executor }) => executor);
  }

  /** Runs the jobs of the fast lanes. */
  get executors(): readonly JobExecutor<E>[] {
    return this.#executors;
  }

  /** Which jobs are left to the ordinary lanes. */
  get left(): JobKinds {
    if (!this.#isActive) return ALL_JOBS;
    return { free: "keyed", queued: this.#takesQueues ? "keyed" : "all" };
  }

  /** Running jobs that have the classic lock. */
  get jobs(): readonly ClaimedJob[] {
    return this.#lanes.flatMap((lane) => lane.keptJobs);
  }

  /** Their queues. */
  get queueIds(): readonly number[] {
    return this.jobs.flatMap(({ queueId }) => (queueId === null ? [] : [queueId]));
  }

  /** A lane looks for the first time after a rest: for a moment the ordinary lanes let it go first. */
  get isLooking(): boolean {
    return this.#isActive && this.#lanes.some((lane) => lane.isLooking);
  }

  get isIdle(): boolean {
    return !this.#isActive || this.#lanes.every((lane) => lane.isIdle);
  }

  /** A classic claim took `count` jobs; `isLast`: it found all there were. */
  classicClaim(count: number, isLast: boolean): void {
    this.#classicJobs += count;
    if (this.#isActive || this.#isStopped) return;
    if (!isLast && this.#classicJobs < CLASSIC_JOBS) return;
    this.#isActive = true;
    for (const lane of this.#lanes) lane.start();
  }

  /**
   * Something may have become ready. One lane that rests is enough to look, and calls another when
   * there is more than it can take: all at once would only be in each other's way. Only queues are
   * for one lane each.
   */
  pulse(isNews = false): void {
    if (!this.#isActive) return;
    for (const lane of this.#lanes) lane.forgetMark();
    const resting = this.#takesQueues ? undefined : this.#lanes.find(({ isResting }) => isResting);
    if (resting !== undefined) resting.pulse(isNews);
    else for (const lane of this.#lanes) lane.pulse(isNews);
  }

  /** The ordinary lanes have let go of named queues. */
  queuesFreed(): void {
    if (this.#takesQueues) this.pulse();
  }

  /** A slot is free: a lane may have had none for what is ready. */
  slotFreed(): void {
    if (this.#isActive) for (const lane of this.#lanes) lane.slotFreed();
  }

  /** Waits no longer for what runs. */
  abandon(): void {
    for (const lane of this.#lanes) lane.abandon();
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await Promise.all(this.#lanes.map((lane) => lane.stop()));
  }
}
