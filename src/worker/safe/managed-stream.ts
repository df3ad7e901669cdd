// The stream of managed queues: queues with a limit. Its jobs are those of free slots, so it fetches only for free slots
// of the worker: a run that waited here would keep others from its slot.
import type { Clock } from "../../base/clock.ts";
import type { FetchedJob } from "../execute/fetched-job.ts";
import { jobsOf, type WorkUnit, workUnits } from "../execute/work-unit.ts";
import type { FetchRequest } from "../fetch/fetch-plan.ts";
import { ManagedFetch } from "../fetch/managed-fetch.ts";
import { Lapse } from "../limits/lapse.ts";
import type { QueueLimits } from "../limits/session-limits.ts";
import { Stream, type StreamParts } from "./stream.ts";

export class ManagedStream extends Stream {
  override readonly managed: ManagedFetch;
  readonly #clock: Clock;
  /** When the tokens that were taken with a job lapse. */
  readonly #lapses = new WeakMap<FetchedJob, number>();
  #lapseMs = Number.POSITIVE_INFINITY;
  readonly #lapse: Lapse;
  #mark = "";

  constructor(parts: StreamParts) {
    super(parts);
    this.#clock = parts.clock;
    this.#lapse = new Lapse(parts.clock);
    this.managed = new ManagedFetch(parts.clock);
  }

  override wanted(freeSlots: number): number {
    if (this.plan.isDrained || this.queue.isDelayed) return 0;
    return Math.max(0, freeSlots - this.queue.size - this.requested);
  }

  override learn(jobs: readonly FetchedJob[], request: FetchRequest): boolean {
    return this.plan.learnManaged(jobs.length, request);
  }

  /** Whether it has nothing to wait for. */
  get isDrained(): boolean {
    return this.plan.isDrained && this.managed.dueAtMs === null;
  }

  /** Takes the limits as they are now. Returns the milliseconds until another fetch may find more. */
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

  /**
   * Returns the runs of a fetch that was sent at this time, by the stream in which they wait. `streamOf`: that of a job,
   * which is another one if its task has a limit, too.
   */
  fetched(
    jobs: readonly FetchedJob[],
    sentAtMs: number,
    streamOf: (job: FetchedJob) => Stream,
  ): ReadonlyMap<Stream, readonly WorkUnit[]> {
    if (this.#lapseMs < Number.POSITIVE_INFINITY && jobs.length > 0) {
      const untilMs = this.#lapse.untilMs(sentAtMs, this.#lapseMs);
      for (const job of jobs) this.#lapses.set(job, untilMs);
    }
    const units = new Map<Stream, WorkUnit[]>([[this, []]]);
    for (const unit of workUnits(jobs)) {
      const stream = streamOf(jobsOf(unit)[0] as FetchedJob);
      units.set(stream, [...(units.get(stream) ?? []), unit]);
    }
    return units;
  }

  /** Whether the tokens of the job have lapsed, so that it may not start. */
  hasLapsed(job: FetchedJob): boolean {
    const untilMs = this.#lapses.get(job);
    return untilMs !== undefined && this.#clock.monotonic() > untilMs;
  }
}
