// The streams of the safe mode (stream.ts). While there are managed queues (named queues under a limit), each of the
// other streams has a managed stream (managed-stream.ts) with the same tasks. A free slot takes the most urgent of the
// streams' next jobs that may start.
import { splitLocks } from "../../queue/sql/slots.ts";
import type { FetchedJob } from "../execute/fetched-job.ts";
import { type WorkUnit, workUnits } from "../execute/slots.ts";
import type { FetchRequest } from "../fetch/fetch-plan.ts";
import { ManagedQueues } from "../fetch/managed-queues.ts";
import type { HeldLimit } from "../limits/held-limit.ts";
import type { LimitedGroup } from "../limits/session-limits.ts";
import { ManagedStream } from "./managed-stream.ts";
import { ReadyChecks } from "./ready-checks.ts";
import { mostUrgent, type Stream } from "./stream.ts";
import { type StreamMakers, type StreamsParts, streamMakers } from "./stream-makers.ts";

/** If all slots are occupied and no job has ended for this long, the worker leaves unused permits to other workers. */
const STUCK_MS = 1_000;

/** The stream that should fetch next, and how many jobs to request. */
export interface StreamWant {
  readonly stream: Stream;
  readonly want: number;
}

interface Fetched {
  readonly mark: number;
  /** The time of the fetch by the database's clock, in seconds since the epoch. */
  readonly now: number;
}

export class Streams {
  readonly main: Stream;
  readonly #own: StreamsParts;
  readonly #parts: StreamsParts["parts"];
  #limited: readonly Stream[] = [];
  /** Empty while there are no managed queues. */
  #managed: readonly ManagedStream[] = [];
  readonly #managedQueues: ManagedQueues;
  readonly #checks: ReadyChecks;
  readonly #makers: StreamMakers;
  #arrangement = 0;
  #turn = 0;
  #isMainNext = false;
  #freedAtMs = 0;
  #cancelTimer: (() => void) | null = null;
  #isReleased = false;

  constructor(own: StreamsParts) {
    const { parts, link } = own;
    this.#own = own;
    this.#parts = parts;
    const { connections } = own;
    const changed = () => link.changed();
    this.#checks = new ReadyChecks({ clock: parts.clock, connections, changed });
    parts.limits.onChange = changed;
    this.#managedQueues = new ManagedQueues(parts.clock);
    this.#makers = streamMakers(own, this.#managedQueues);
    this.main = this.#makers.make(null);
    parts.limits.demandOf = (limit) => this.#demandOf(limit);
    this.#arrange();
  }

  get all(): readonly Stream[] {
    return [this.main, ...this.#others];
  }

  get #others(): readonly Stream[] {
    return this.#managed.length === 0 ? this.#limited : [...this.#limited, ...this.#managed];
  }

  get waiting(): number {
    return this.#others.reduce((sum, { queue }) => sum + queue.size, this.main.queue.size);
  }

  get jobs(): readonly FetchedJob[] {
    return this.all.flatMap(({ queue }) => queue.jobs);
  }

  get queueIds(): readonly number[] {
    return this.all.flatMap(({ queue }) => queue.queueIds);
  }

  get isDrained(): boolean {
    const { hasHeartbeats } = this.#parts.lease;
    // A worker without heartbeats gets no permits, so the worker never starts jobs that need permits.
    return this.all.every((one) => one.isDrained || (one.needsPermits && !hasHeartbeats));
  }

  start(): void {
    for (const { queue } of this.all) queue.start();
  }

  /** Called when jobs may have become ready anywhere in the index. Returns whether some stream had nothing to fetch. */
  wake(count: number): boolean {
    let wasDrained = this.main.plan.wake(count > 0);
    for (const { plan } of this.#others) wasDrained = plan.wake(count > 0) || wasDrained;
    if (this.#managed.length > 0) this.#managedQueues.jobsAnnounced();
    for (const { queue } of this.all) queue.announce(Math.max(1, count));
    return wasDrained;
  }

  /** Called when jobs may be ready after the place where the next fetch starts. `unlocked`: the locks of ended runs. */
  raise(unlocked: readonly number[] = []): void {
    if (unlocked.length > 0) this.#parts.tasks.queueUnlocked();
    const hasFreeQueue = unlocked.length > 0 && splitLocks(unlocked).queues.length > 0;
    for (const { plan } of this.all) plan.raise(hasFreeQueue);
    if (this.#managed.length > 0) this.#managedQueues.runEnded();
  }

  /** Called with jobs that were given back. Lets the next fetches find these jobs, and gives back their tokens. */
  jobsReturned(jobs: readonly FetchedJob[]): void {
    for (const { plan } of this.all) plan.wake(false);
    const unused = this.#managed.flatMap((one) => one.tokensOf(jobs));
    if (unused.length === 0) return;
    void this.#parts.limits.returnQueueTokens(unused).then(() => {
      this.raise();
      this.#own.link.changed();
    });
  }

  get hasStartable(): boolean {
    if (this.main.queue.size > 0) return true;
    return this.#others.some((one) => one.queue.size > 0 && one.startable > 0);
  }

  /** Returns the most urgent work unit that may start. */
  take(): WorkUnit | undefined {
    const others = this.#others;
    if (others.length === 0) return this.main.queue.take();
    for (;;) {
      const best = mostUrgent(this.main, others);
      const { head } = best.queue;
      if (head === undefined || !this.#hasLapsed(head)) return best.queue.take();
      best.queue.giveBackAll();
    }
  }

  /** Whether `job`, the next of a run of a queue, may start. */
  mayFollow(job: FetchedJob): boolean {
    return (job.stream?.startable ?? 1) > 0 && !this.#hasLapsed(job);
  }

  #hasLapsed(job: FetchedJob): boolean {
    return this.#managed.some((one) => one.hasLapsed(job));
  }

  jobBegan(job: FetchedJob): void {
    job.stream?.jobBegan();
  }

  jobEnded(job: FetchedJob): void {
    this.#freedAtMs = this.#parts.clock.monotonic();
    if (job.stream === undefined) this.main.plan.countEnded(1);
    else job.stream.jobEnded();
  }

  /**
   * If this value has changed since a fetch was sent, some fetched jobs may belong to other streams or may be paused.
   */
  get mark(): number {
    return this.#arrangement + this.#parts.tasks.pausesRead;
  }

  /** Adds fetched jobs. If `mark` has changed since the fetch was sent, gives back the stream's waiting jobs. */
  add(stream: Stream, jobs: readonly FetchedJob[], request: FetchRequest, { mark, now }: Fetched) {
    stream.plan.measure();
    const isManaged = stream instanceof ManagedStream;
    const target = isManaged ? stream.target : stream;
    if (isManaged) stream.jobsFetched(jobs, request.sentAtMs, now);
    if (target.group !== null) for (const job of jobs) job.stream = target;
    // A fetch from managed queues returns only jobs for free slots of these queues. So a refetch delay begins only if
    // such a fetch returns no job.
    target.queue.add(workUnits(jobs), jobs.length, isManaged && jobs.length > 0 ? 0 : request.want);
    if (mark !== this.mark) target.queue.giveBackAll();
  }

  #limitedOf({ taskIdentifier }: FetchedJob): Stream | undefined {
    return this.#limited.find(({ group }) => group?.names.includes(taskIdentifier));
  }

  /** Returns a stream that should fetch, or null. The main stream comes first in every second call, else last. */
  demand(): StreamWant | null {
    const { free } = this.#own.link.slots;
    const others = this.#others;
    this.#isMainNext = others.length === 0 || !this.#isMainNext;
    for (let n = 0; n <= others.length; n++) {
      const isMain = n === (this.#isMainNext ? 0 : others.length);
      const stream = isMain ? this.main : (others[this.#turn++ % others.length] as Stream);
      const want = stream.demand(free);
      if (want > 0) return { stream, want };
    }
    return null;
  }

  /** Requests permits and tokens for the next jobs, and starts a check for ready jobs and a timer for the next call. */
  prepare(): void {
    if (this.#others.length === 0 || this.#isReleased) return;
    const { limits } = this.#parts;
    const { free } = this.#own.link.slots;
    let waitMs = Number.POSITIVE_INFINITY;
    if (limits.queues !== null) {
      for (const stream of this.#managed) waitMs = Math.min(waitMs, stream.prepare(limits.queues));
    }
    for (const { plan } of [this.main, ...this.#limited])
      waitMs = Math.min(waitMs, plan.requestDueSearch());
    const evident: LimitedGroup[] = [];
    const toCheck: Stream[] = [];
    for (const stream of this.#limited) {
      const group = stream.group as LimitedGroup;
      const { size } = stream.queue;
      const related = this.#related(stream);
      const hasEvidence = related.some((member) => member.hasEvidence);
      if (hasEvidence) evident.push(group);
      limits.prepare(group, hasEvidence, size > 0 ? Math.min(size, free) : free);
      const backsOffMs = Math.max(...group.limits.map((limit) => limit.backsOffMs));
      for (const member of related) {
        if (backsOffMs === 0) toCheck.push(member);
        else if (member.hasWork) waitMs = Math.min(waitMs, backsOffMs);
      }
    }
    waitMs = Math.min(waitMs, this.#checks.consider(toCheck));
    limits.returnUnused(evident);
    this.#cancelTimer?.();
    this.#cancelTimer = null;
    if (waitMs === Number.POSITIVE_INFINITY) return;
    const ms = Math.min(Math.max(1, waitMs), MAX_WAIT_MS);
    this.#cancelTimer = this.#parts.clock.after(ms, () => this.#own.link.changed());
  }

  /** Called when the tasks of streams may have changed. Returns false if there was and is only the main stream. */
  rearrange(running: readonly FetchedJob[]): boolean {
    const before = this.#others;
    this.#arrange();
    if (before.length === 0 && this.#others.length === 0) return false;
    this.#arrangement++;
    const remaining = new Set(this.#others);
    for (const stream of before) if (!remaining.has(stream)) stream.queue.release();
    this.main.queue.giveBackAll();
    this.main.plan.wake(false);
    // Running jobs now count under the present limits of their tasks.
    for (const job of running) this.#move(job);
    return true;
  }

  giveBackAll(): void {
    for (const { queue } of this.all) queue.giveBackAll();
  }

  release(): void {
    this.#isReleased = true;
    this.#cancelTimer?.();
    for (const { queue } of this.all) queue.release();
  }

  #arrange(): void {
    const { groups, queues } = this.#parts.limits;
    const streamsByKey = new Map(this.#limited.map((one) => [one.group?.key, one]));
    this.#limited = groups.map((group) => streamsByKey.get(group.key) ?? this.#makers.make(group));
    const owners = queues === null ? [] : [null, ...this.#limited];
    const managed = new Map(this.#managed.map((one) => [one.owner, one]));
    this.#managed = owners.map((one) => managed.get(one) ?? this.#makers.makeManaged(one));
    if (this.main.queue.mode === "starting") return;
    for (const { queue } of this.#others) if (queue.mode === "starting") queue.start();
  }

  #move(job: FetchedJob): void {
    const from = job.stream;
    const to = this.#limitedOf(job);
    if (from === to) return;
    from?.jobLeft();
    to?.jobJoined();
    job.stream = to;
  }

  #demandOf(limit: HeldLimit): number {
    const { free, all } = this.#own.link.slots;
    const isStuck = free === 0 && this.#parts.clock.monotonic() - this.#freedAtMs > STUCK_MS;
    if (isStuck || this.#isReleased) return limit.running;
    let wanted = 0;
    for (const stream of this.#limited) {
      if (!stream.group?.limits.includes(limit)) continue;
      if (this.#related(stream).some((one) => one.hasEvidence))
        wanted += stream.attainableBeside(limit);
    }
    return Math.max(limit.running, Math.floor(Math.min(wanted, all)));
  }

  #related(stream: Stream): readonly Stream[] {
    return [stream, ...this.#managed.filter(({ owner }) => owner === stream)];
  }
}

const MAX_WAIT_MS = 60_000;
