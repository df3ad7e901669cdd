// Runs the timetable, the cron entries of the program. At each tick of an entry, each worker that has the entry offers
// the tick's job to the database, which accepts one worker's offer (queue/cron/schedule-cron.ts).
//
//   start: entries registered ──▶ clock read ──▶ due ticks offered, oldest first ──▶ wait for the next tick
//                                     ▲  (missed ones, too: backfill, outage, sleep)       │
//                                     └──────── at least once a minute ◀───────────────────┘
//
// A tick remains due until it is handled or too old (CATCH_UP_MS). So after an outage, the missed ticks are offered.
import { wait } from "../../base/clock.ts";
import type { Outage } from "../../base/outage.ts";
import type { Service } from "../../base/service.ts";
import type { CronEntry } from "../../domain/cron/cron-entry.ts";
import { databaseTime } from "../../queue/cron/database-time.ts";
import { registerCrontabs } from "../../queue/cron/known-crontabs.ts";
import { type CronConfig, readTimetable } from "../options/cron-options.ts";
import { type CronServices, entriesOf, offerTicks } from "./cron-offers.ts";
import { CronTimeline } from "./cron-timeline.ts";

export interface CronOwner extends CronServices {
  /** The tasks of this worker. For entries of other tasks, a warning is logged. */
  readonly taskIdentifiers: ReadonlySet<string>;
  readonly outage: Outage;
  /** Default: the database's clock, and timers. */
  readonly time?: CronTime;
}

export interface CronTime {
  /** Resolves to the time in milliseconds since the epoch. */
  now(): Promise<number>;
  /** Resolves to true when the time has passed, to false when `signal` aborts. */
  wait(ms: number, signal: AbortSignal): Promise<boolean>;
}

/** The maximum number of ticks in one transaction. Other workers wait for the locks of the transaction. */
const BATCH = 500;
/** The longest wait until the clock is read again. In a wait, the clock may be set, or this machine may sleep. */
const MAX_WAIT_MS = 60_000;
/**
 * If the database's clock was set back by more than this, the timetable starts again. A smaller step may be the result
 * of a failover to a server with another clock.
 */
const CLOCK_SLACK_MS = 60_000;

export class Cron implements Service {
  readonly #config: CronConfig;
  readonly #services: CronOwner;
  readonly #time: CronTime;
  readonly #stop = new AbortController();
  #started: Promise<void> | null = null;
  #running: Promise<void> | null = null;
  #timeline: CronTimeline | null = null;
  /** The identifiers of the entries that #warnOfAhead() has named since the timetable last started. */
  readonly #ahead = new Set<string>();

  constructor(config: CronConfig, services: CronOwner) {
    this.#config = config;
    this.#services = services;
    this.#time = services.time ?? { now: () => databaseTime(services.db), wait };
  }

  /** All entries, each with its first tick that is not handled. Empty before the start. */
  get ticks(): CronTimeline["ticks"] {
    return this.#timeline?.ticks ?? [];
  }

  /** Reads and registers the entries, and then begins to offer ticks. Rejects if reading or registering fails. */
  start(): Promise<void> {
    this.#started ??= this.#start();
    return this.#started;
  }

  /** Stops offering ticks, and waits until an open transaction has ended. */
  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#started?.catch(() => {});
    await this.#running;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  async #start(): Promise<void> {
    const entries = await readTimetable(this.#config);
    if (entries.length === 0 || this.#stop.signal.aborted) return;
    this.#warnOfUnknownTasks(entries);
    const nowMs = await this.#time.now();
    this.#timeline = await this.#begin(entries, nowMs);
    this.#running = this.#run(entries, this.#timeline, nowMs);
  }

  async #begin(entries: readonly CronEntry[], nowMs: number): Promise<CronTimeline> {
    const identifiers = entries.map(({ identifier }) => identifier);
    const stored = await registerCrontabs(this.#services.db, identifiers, nowMs);
    const ahead = stored.filter(
      ({ lastExecutionMs }) => (lastExecutionMs ?? 0) > nowMs + CLOCK_SLACK_MS,
    );
    this.#ahead.clear();
    if (ahead.length > 0) this.#warnOfAhead(ahead.map(({ identifier }) => identifier));
    return new CronTimeline(entries, stored, nowMs);
  }

  #warnOfAhead(identifiers: readonly string[]): void {
    const entries = identifiers.filter((one) => !this.#ahead.has(one));
    if (entries.length === 0) return;
    for (const entry of entries) this.#ahead.add(entry);
    this.#services.logger.warn(
      { entries },
      "the stored last tick of these cron entries is in the future, and before this time the entries add no jobs; if the clock was wrong, set their last_execution in _private_known_crontabs to now()",
    );
  }

  async #run(entries: readonly CronEntry[], first: CronTimeline, startMs: number): Promise<void> {
    const { signal } = this.#stop;
    const { logger, outage } = this.#services;
    let timeline = first;
    let latestMs = startMs;
    /** Resolves to the milliseconds until the clock must be read again. */
    const offerDue = async (): Promise<number> => {
      const nowMs = await this.#time.now();
      if (nowMs < latestMs - CLOCK_SLACK_MS) {
        logger.warn({ backMs: latestMs - nowMs }, "the database's clock was set back");
        timeline = await this.#begin(entries, nowMs);
        this.#timeline = timeline;
      }
      latestMs = nowMs;
      // Offering takes time, so the clock is read again before waiting.
      if (await this.#catchUp(timeline, nowMs)) return 0;
      return Math.min(timeline.nextMs - nowMs, MAX_WAIT_MS);
    };
    await outage.runWithRetries(
      "timetable",
      async (succeeded) => {
        while (!signal.aborted) {
          const pauseMs = await offerDue();
          succeeded();
          if (pauseMs > 0) await this.#time.wait(pauseMs, signal);
        }
      },
      { signal, wait: this.#time.wait.bind(this.#time) },
    );
  }

  /** Offers all ticks that are due at `nowMs`. Resolves to false if no tick is due. */
  async #catchUp(timeline: CronTimeline, nowMs: number): Promise<boolean> {
    const late = timeline.dropOverdue(nowMs);
    if (late.length > 0) {
      this.#services.logger.warn(
        { entries: late.map(({ identifier }) => identifier) },
        "these cron entries missed ticks that are too old to be scheduled",
      );
    }
    let due = timeline.due(nowMs, BATCH);
    const hasDue = due.length > 0;
    while (due.length > 0 && !this.#stop.signal.aborted) {
      const ahead = new Set<string>();
      const onPassed = (identifier: string, lastMs: number) => {
        if (lastMs > nowMs + CLOCK_SLACK_MS) ahead.add(identifier);
      };
      const services = { ...this.#services, onPassed };
      if (!(await offerTicks(services, entriesOf(services), due, this.#stop.signal))) break;
      this.#warnOfAhead([...ahead]);
      timeline.markHandled(due);
      due = timeline.due(nowMs, BATCH);
    }
    return hasDue;
  }

  #warnOfUnknownTasks(entries: readonly CronEntry[]): void {
    const own = this.#services.taskIdentifiers;
    const tasks = new Set(entries.map(({ taskIdentifier }) => taskIdentifier));
    const unknown = [...tasks].filter((task) => !own.has(task));
    if (unknown.length === 0) return;
    this.#services.logger.warn(
      { tasks: unknown },
      "this worker schedules cron jobs of tasks that it does not have; another worker must run them",
    );
  }
}
