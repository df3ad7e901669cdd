// Serves the timetable: at each tick it offers the jobs that are due. Which worker's offer counts
// is decided in the database (queue/schedule-cron.ts), and so is what time it is: this machine's
// clock only measures waits, and a wrong one does no harm.
//
//   start: ledger read ──▶ time? ──▶ due ticks offered, oldest first ──▶ wait for the next tick
//                            ▲  (missed ones, too: backfill, outage, sleep)    │
//                            └──────── at least once a minute ◀────────────────┘
//
// A tick is passed only when it is handled, so an outage of the database loses none: see
// cron-timeline.ts for the bound. A commit whose answer was lost is offered again, and refused.
import { wait } from "../../base/clock.ts";
import type { Outage } from "../../base/outage.ts";
import type { Service } from "../../base/service.ts";
import type { CronEntry } from "../../domain/cron/cron-entry.ts";
import { databaseTime } from "../../queue/cron/database-time.ts";
import { registerCrontabs } from "../../queue/cron/known-crontabs.ts";
import { type CronConfig, readTimetable } from "../options/cron-options.ts";
import { type CronServices, offerTicks } from "./cron-offers.ts";
import { CronTimeline } from "./cron-timeline.ts";

export interface CronOwner extends CronServices {
  /** What this worker can do; another worker may do the rest. */
  readonly taskIdentifiers: ReadonlySet<string>;
  readonly outage: Outage;
  /** Default: the database's clock, and timers. */
  readonly time?: CronTime;
}

export interface CronTime {
  /** Milliseconds since the epoch. */
  now(): Promise<number>;
  /** True when the time has passed, false when `signal` aborted. */
  wait(ms: number, signal: AbortSignal): Promise<boolean>;
}

/** Ticks in one transaction: short enough for others to wait for. */
const BATCH = 500;
/** The clock is asked at least this often: it may have been set, or this machine may have slept. */
const LONGEST_WAIT_MS = 60_000;
/** Set back by more than this: start over. Less is two servers that disagree a little. */
const CLOCK_SLACK_MS = 60_000;

export class Cron implements Service {
  readonly #config: CronConfig;
  readonly #services: CronOwner;
  readonly #time: CronTime;
  readonly #stop = new AbortController();
  #started: Promise<void> | null = null;
  #running: Promise<void> | null = null;
  #timeline: CronTimeline | null = null;
  /** Entries of which the log has that their last tick lies in the future. */
  readonly #ahead = new Set<string>();

  constructor(config: CronConfig, services: CronOwner) {
    this.#config = config;
    this.#services = services;
    this.#time = services.time ?? { now: () => databaseTime(services.db), wait };
  }

  /** Every entry with its next tick. */
  get ticks(): CronTimeline["ticks"] {
    return this.#timeline?.ticks ?? [];
  }

  /** Reads the timetable and the ledger. Rejects when either cannot be had. */
  start(): Promise<void> {
    this.#started ??= this.#start();
    return this.#started;
  }

  /** Offers nothing more. A transaction under way is finished. */
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
    this.#timeline = await this.#begun(entries, nowMs);
    this.#running = this.#run(entries, this.#timeline, nowMs);
  }

  async #begun(entries: readonly CronEntry[], nowMs: number): Promise<CronTimeline> {
    const identifiers = entries.map(({ identifier }) => identifier);
    const known = await registerCrontabs(this.#services.db, identifiers, nowMs);
    const ahead = known.filter(
      ({ lastExecutionMs }) => (lastExecutionMs ?? 0) > nowMs + CLOCK_SLACK_MS,
    );
    this.#ahead.clear();
    if (ahead.length > 0) this.#warnOfAhead(ahead.map(({ identifier }) => identifier));
    return new CronTimeline(entries, known, nowMs);
  }

  /** Once for each entry, until the timetable begins anew. */
  #warnOfAhead(identifiers: readonly string[]): void {
    const entries = identifiers.filter((one) => !this.#ahead.has(one));
    if (entries.length === 0) return;
    for (const one of entries) this.#ahead.add(one);
    this.#services.logger.warn(
      { entries },
      "the last tick of these cron entries lies in the future, and nothing is scheduled before it; if the clock was wrong, set last_execution in _private_known_crontabs to null",
    );
  }

  async #run(entries: readonly CronEntry[], first: CronTimeline, startMs: number): Promise<void> {
    const { signal } = this.#stop;
    const { logger, outage } = this.#services;
    let timeline = first;
    let latestMs = startMs;
    /** How long nothing is due after it. */
    const turn = async (): Promise<number> => {
      const nowMs = await this.#time.now();
      if (nowMs < latestMs - CLOCK_SLACK_MS) {
        logger.warn({ backMs: latestMs - nowMs }, "the database's clock was set back");
        timeline = await this.#begun(entries, nowMs);
        this.#timeline = timeline;
      }
      latestMs = nowMs;
      // After work it is later than we know: ask again before waiting.
      if (await this.#catchUp(timeline, nowMs)) return 0;
      return Math.min(timeline.nextMs - nowMs, LONGEST_WAIT_MS);
    };
    await outage.retrying(
      "timetable",
      async (succeeded) => {
        while (!signal.aborted) {
          const pauseMs = await turn();
          succeeded();
          if (pauseMs > 0) await this.#time.wait(pauseMs, signal);
        }
      },
      { signal, wait: this.#time.wait.bind(this.#time) },
    );
  }

  /** Offers all that is due by `nowMs`; false when nothing is. */
  async #catchUp(timeline: CronTimeline, nowMs: number): Promise<boolean> {
    const late = timeline.dropOverdue(nowMs);
    if (late.length > 0) {
      this.#services.logger.warn(
        { entries: late.map(({ identifier }) => identifier) },
        "these cron entries missed ticks that are too old to be made up for",
      );
    }
    let due = timeline.due(nowMs, BATCH);
    const worked = due.length > 0;
    while (due.length > 0 && !this.#stop.signal.aborted) {
      const passed = new Set<string>();
      const onPassed = (identifier: string, lastMs: number) => {
        if (lastMs > nowMs + CLOCK_SLACK_MS) passed.add(identifier);
      };
      if (!(await offerTicks({ ...this.#services, onPassed }, due, this.#stop.signal))) break;
      this.#warnOfAhead([...passed]);
      timeline.handled(due);
      due = timeline.due(nowMs, BATCH);
    }
    return worked;
  }

  #warnOfUnknownTasks(entries: readonly CronEntry[]): void {
    const known = this.#services.taskIdentifiers;
    const tasks = new Set(entries.map(({ taskIdentifier }) => taskIdentifier));
    const unknown = [...tasks].filter((task) => !known.has(task));
    if (unknown.length === 0) return;
    this.#services.logger.warn(
      { tasks: unknown },
      "this worker schedules cron jobs of tasks that it does not know; another worker has to run them",
    );
  }
}
