// The streams of the safe mode: the main one, and one for each group of limited tasks. Slots take the most urgent job
// that may start; a stream that waits for its limit is passed over.
import { mayHaveReady } from "../../queue/fetch/has-ready.ts";
import type { WorkerConnections } from "../connection/connections.ts";
import { type FetchedJob, inOrder } from "../execute/fetched-job.ts";
import { type WorkUnit, workUnits } from "../execute/work-unit.ts";
import type { FetcherLink } from "../fetch/fetcher.ts";
import type { TaskParameters } from "../fetch/task-parameters.ts";
import type { HeldLimit } from "../limits/held-limit.ts";
import type { LimitedGroup } from "../limits/session-limits.ts";
import type { LocalQueueParts } from "./local-queue.ts";
import type { RoundTrips } from "./round-trips.ts";
import type { SafeFetcherParts } from "./safe-fetcher-parts.ts";
import { Stream } from "./stream.ts";

/** Without a permit a stream looks this often whether a job is ready at all. */
const LOOK_MS = 500;
/** A worker whose slots have all been busy for longer leaves its permits to others. */
const STUCK_MS = 1_000;

/** What to fetch next. */
export interface StreamWant {
  readonly stream: Stream;
  /** The number of jobs. */
  readonly want: number;
}

export interface StreamsParts {
  readonly parts: Pick<
    SafeFetcherParts<unknown>,
    "clock" | "config" | "free" | "hooks" | "limits" | "parametersOf" | "tasks" | "workerId"
  >;
  readonly link: Pick<FetcherLink, "changed" | "slots">;
  readonly trips: RoundTrips;
  readonly connections: Pick<WorkerConnections, "take" | "giveBack">;
  readonly giveBack: LocalQueueParts["giveBack"];
  readonly delayOver: LocalQueueParts["delayOver"];
}

export class Streams {
  readonly main: Stream;
  readonly #own: StreamsParts;
  readonly #parts: StreamsParts["parts"];
  #limited: readonly Stream[] = [];
  /** The streams of limited jobs. Jobs of the main stream are not in it. */
  readonly #ofJob = new WeakMap<FetchedJob, Stream>();
  readonly #looked = new WeakMap<Stream, number>();
  #arrangement = 0;
  #turn = 0;
  #freedAtMs = 0;
  #cancelTimer: (() => void) | null = null;
  #isReleased = false;

  constructor(own: StreamsParts) {
    const { parts, link } = own;
    this.#own = own;
    this.#parts = parts;
    parts.limits.onChange = () => link.changed();
    this.main = this.#make(null);
    parts.limits.demandOf = (limit) => this.#demandOf(limit);
    this.#arrange();
  }

  get all(): readonly Stream[] {
    return [this.main, ...this.#limited];
  }

  get waiting(): number {
    return this.#limited.reduce((sum, { queue }) => sum + queue.size, this.main.queue.size);
  }

  get jobs(): readonly FetchedJob[] {
    return this.all.flatMap(({ queue }) => queue.jobs);
  }

  get queueIds(): readonly number[] {
    return this.all.flatMap(({ queue }) => queue.queueIds);
  }

  get isDrained(): boolean {
    return this.main.plan.isDrained && this.#limited.every(({ plan }) => plan.isDrained);
  }

  start(): void {
    for (const { queue } of this.all) queue.start();
  }

  /** Jobs may have become ready anywhere. Returns whether nothing was ready before in some stream. */
  wake(count: number): boolean {
    let wasDrained = this.main.plan.wake(count > 0);
    for (const { plan } of this.#limited) wasDrained = plan.wake(count > 0) || wasDrained;
    for (const { queue } of this.all) queue.announce(Math.max(1, count));
    return wasDrained;
  }

  raise(): void {
    for (const { plan } of this.all) plan.raise();
  }

  /** Returned jobs are ready again, before the places where the next fetches would start. */
  returned(): void {
    for (const { plan } of this.all) plan.wake(false);
  }

  get hasStartable(): boolean {
    if (this.main.queue.size > 0) return true;
    return this.#limited.some((one) => one.queue.size > 0 && one.startable > 0);
  }

  /** Returns the most urgent unit that may start. */
  take(): WorkUnit | undefined {
    let best = this.main;
    if (this.#limited.length === 0) return best.queue.take();
    let head = best.queue.head;
    for (const stream of this.#limited) {
      const other = stream.queue.head;
      if (other === undefined || stream.startable === 0) continue;
      if (head !== undefined && inOrder(head, other) <= 0) continue;
      [best, head] = [stream, other];
    }
    return best.queue.take();
  }

  /** Whether the next job of a run may start. */
  mayFollow(job: FetchedJob): boolean {
    return (this.#ofJob.get(job)?.startable ?? 1) > 0;
  }

  began(job: FetchedJob): void {
    if (this.#limited.length > 0) this.#ofJob.get(job)?.began();
  }

  ended(job: FetchedJob): void {
    this.#freedAtMs = this.#parts.clock.monotonic();
    const stream = this.#ofJob.get(job);
    if (stream === undefined) this.main.plan.finished(1);
    else stream.ended();
  }

  /** Changes when a fetch that was sent before may bring jobs that must not start, or jobs of other streams. */
  get mark(): number {
    return this.#arrangement + this.#parts.tasks.pausesRead;
  }

  /** Adds the jobs of a fetch. `mark`: that of the time when it was sent. */
  add(stream: Stream, jobs: readonly FetchedJob[], want: number, mark: number): void {
    if (stream !== this.main) for (const job of jobs) this.#ofJob.set(job, stream);
    stream.queue.add(workUnits(jobs), jobs.length, want);
    if (mark !== this.mark) stream.queue.giveBackAll();
  }

  /** Returns a stream that should fetch, and how many jobs; each in turn. */
  wanted(): StreamWant | null {
    const { free } = this.#own.link.slots;
    if (this.#limited.length === 0) {
      const want = this.main.wanted(free);
      return want > 0 ? { stream: this.main, want } : null;
    }
    const all = this.all;
    for (let n = 0; n < all.length; n++) {
      const stream = all[this.#turn++ % all.length] as Stream;
      const want = stream.wanted(free);
      if (want > 0) return { stream, want };
    }
    return null;
  }

  /** Gets permits and tokens for what may be fetched and started next. */
  prepare(): void {
    if (this.#limited.length === 0 || this.#isReleased) return;
    const { limits } = this.#parts;
    const { free } = this.#own.link.slots;
    let waitMs = Number.POSITIVE_INFINITY;
    for (const stream of this.#limited) {
      const group = stream.group as LimitedGroup;
      const { size } = stream.queue;
      limits.prepare(group, stream.hasWork, size > 0 ? Math.min(size, free) : free);
      if (!stream.hasWork) continue;
      for (const { backsOffMs } of group.limits) {
        if (backsOffMs > 0) waitMs = Math.min(waitMs, backsOffMs);
      }
      waitMs = Math.min(waitMs, this.#lookFor(stream));
    }
    this.#cancelTimer?.();
    this.#cancelTimer = null;
    if (waitMs === Number.POSITIVE_INFINITY) return;
    const ms = Math.min(Math.max(1, waitMs), LONGEST_WAIT_MS);
    this.#cancelTimer = this.#parts.clock.after(ms, () => this.#own.link.changed());
  }

  /** The tasks of the streams may have changed. Returns whether they have. */
  rearrange(running: readonly FetchedJob[]): boolean {
    const before = this.#limited;
    this.#arrange();
    if (before.length === 0 && this.#limited.length === 0) return false;
    this.#arrangement++;
    const kept = new Set(this.#limited);
    for (const stream of before) if (!kept.has(stream)) stream.queue.release();
    this.main.queue.giveBackAll();
    this.main.plan.wake(false);
    // Jobs that run count from now on under the limits that their tasks have now.
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
    const { groups } = this.#parts.limits;
    const known = new Map(this.#limited.map((one) => [one.group?.key, one]));
    this.#limited = groups.map((group) => known.get(group.key) ?? this.#make(group));
    if (this.main.queue.mode === "starting") return;
    for (const { queue } of this.#limited) if (queue.mode === "starting") queue.start();
  }

  #make(group: LimitedGroup | null): Stream {
    const { clock, config, free, tasks, parametersOf, hooks, workerId } = this.#parts;
    const { trips, giveBack, delayOver } = this.#own;
    return new Stream({
      ...{ clock, trips, group, config: config.localQueue },
      queueParts: { hooks, workerId, giveBack, delayOver },
      // The fast mode takes no limited jobs.
      free: group === null ? free : "all",
      tasks: group === null ? tasks : parametersOf(group.names),
    });
  }

  #move(job: FetchedJob): void {
    const from = this.#ofJob.get(job);
    const name = job.taskIdentifier;
    const to = this.#limited.find(({ group }) => group?.names.includes(name));
    if (from === to) return;
    from?.left();
    to?.joined();
    if (to === undefined) this.#ofJob.delete(job);
    else this.#ofJob.set(job, to);
  }

  #demandOf(limit: HeldLimit): number {
    const { free, all } = this.#own.link.slots;
    const isStuck = free === 0 && this.#parts.clock.monotonic() - this.#freedAtMs > STUCK_MS;
    const ofLimit = this.#limited.filter(({ group }) => group?.limits.includes(limit));
    if (isStuck || this.#isReleased || !ofLimit.some(({ hasWork }) => hasWork))
      return limit.running;
    return all;
  }

  /** Without a permit it looks whether a job is ready, so that it does not want permits for nothing. */
  #lookFor(stream: Stream): number {
    const limits = stream.group?.limits ?? [];
    const hasNone = limits.some(
      ({ concurrency, permits }) => concurrency !== null && permits === 0,
    );
    if (!hasNone || stream.queue.size > 0 || stream.plan.isDrained) return Number.POSITIVE_INFINITY;
    const nowMs = this.#parts.clock.monotonic();
    const nextMs = (this.#looked.get(stream) ?? nowMs) + LOOK_MS;
    if (!this.#looked.has(stream)) this.#looked.set(stream, nowMs);
    if (nowMs < nextMs) return nextMs - nowMs;
    this.#looked.set(stream, nowMs);
    const { mark } = stream.plan;
    void this.#mayHaveReady(stream.tasks).then((mayHave) => {
      if (!mayHave) stream.plan.sawNothing(mark);
      this.#own.link.changed();
    });
    return LOOK_MS;
  }

  async #mayHaveReady({ identifiers, pauses }: TaskParameters): Promise<boolean> {
    const { connections } = this.#own;
    const connection = connections.take();
    if (connection === undefined) return true;
    try {
      return await mayHaveReady(connection.database, identifiers, pauses);
    } catch {
      return true; // The next fetch finds out what is wrong.
    } finally {
      connections.giveBack(connection);
    }
  }
}

const LONGEST_WAIT_MS = 60_000;
