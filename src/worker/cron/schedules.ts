// Adds the jobs of due schedules. If several workers offer the same tick, only one of the offers adds the job. While
// the schema lacks the extension `schedules`, the worker only looks for the extension: once a minute, and after an
// announcement.
import { monotonic, wait } from "../../base/clock.ts";
import { codeOf, messageOf } from "../../base/errors.ts";
import type { Logger } from "../../base/logger.ts";
import type { Outage } from "../../base/outage.ts";
import type { Service } from "../../base/service.ts";
import { isRefusedResult } from "../../database/errors/database-errors.ts";
import { hasSchedules } from "../../database/schema/extensions/has-extension.ts";
import { scheduledJob } from "../../domain/cron/schedule.ts";
import { databaseTime } from "../../queue/cron/database-time.ts";
import { SCHEDULES } from "../../queue/schedules/schedule-row.ts";
import {
  type DuePlace,
  type DueSchedules,
  dueSchedules,
  scheduleTicks,
} from "../../queue/schedules/schedule-ticks.ts";
import type { CronTime } from "./cron.ts";
import { type CronServices, type OfferedTick, offerTicks, type TickSource } from "./cron-offers.ts";
import { dueTicks, type ScheduleTick } from "./due-ticks.ts";

export interface SchedulesOwner extends Omit<CronServices, "onPassed"> {
  readonly outage: Outage;
  /** Default: the database's clock, and timers. */
  readonly time?: CronTime;
}

/** The longest pause before the next read, because the announcement of a change may be lost. */
const MAX_WAIT_MS = 5_000;
/** The pause while the schema lacks the extension, or if the role may not use the schedules. */
const MAX_ABSENCE_MS = 60_000;
/** The longest pause if another session locked or changed the row of a due schedule. */
const CONTENDED_MS = 1_000;
/**
 * A worker drops the ticks that are earlier than its start by more than the schedule's backfill period. Another worker
 * that was already running may still add the jobs of these ticks. So for this long after its start, a worker ignores
 * each schedule whose next tick is that early, and the other worker has time to handle the tick.
 */
const STARTING_MS = 10_000;
/** How long a schedule is skipped after PostgreSQL has refused to change the row. */
const REFUSED_MS = 60_000;
/** The maximum number of ticks in a transaction. */
const MAX_TICKS = 500;
const MAX_LOGGED = 1_000;
const INSUFFICIENT_PRIVILEGE = "42501";

export class Schedules implements Service {
  readonly #services: SchedulesOwner;
  readonly #time: CronTime;
  readonly #stop = new AbortController();
  #pause = new AbortController();
  #isAnnounced = false;
  #hasTable = false;
  #startMs: number | null = null;
  /** The time of start() by the monotonic clock; null if the schema had the extension at that time. */
  #absentAtMs: number | null = null;
  #running: Promise<void> | null = null;
  readonly #refused = new Map<string, number>();
  readonly #logged = new Set<string>();

  constructor(services: SchedulesOwner) {
    this.#services = services;
    this.#time = services.time ?? { now: () => databaseTime(services.db), wait };
  }

  /** `hasTable`: whether the schema had the extension when the worker read the schema. Never rejects. */
  start(hasTable = false): Promise<void> {
    this.#hasTable = hasTable;
    if (!hasTable) this.#absentAtMs = monotonic();
    this.#running ??= this.#run();
    return Promise.resolve();
  }

  /** The channel on which added and changed schedules are announced. */
  get channels(): Readonly<Record<string, () => void>> {
    return {
      [SCHEDULES]: () => {
        this.#isAnnounced = true;
        this.#pause.abort();
      },
    };
  }

  /** Waits until an open transaction has ended. */
  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  async #run(): Promise<void> {
    const { signal } = this.#stop;
    const waitFor = this.#time.wait.bind(this.#time);
    if (!this.#hasTable) await this.#wait(MAX_ABSENCE_MS);
    await this.#services.outage.runWithRetries(
      "schedules",
      async (succeeded) => {
        while (!signal.aborted) {
          const pauseMs = await this.#turn();
          succeeded();
          if (pauseMs > 0) await this.#wait(pauseMs);
        }
      },
      { signal, wait: waitFor },
    );
  }

  async #wait(ms: number): Promise<void> {
    if (!this.#isAnnounced) {
      this.#pause = new AbortController();
      await this.#time.wait(ms, AbortSignal.any([this.#stop.signal, this.#pause.signal]));
    }
    this.#isAnnounced = false;
  }

  /** Resolves to the milliseconds until the next read. */
  async #turn(): Promise<number> {
    const { db } = this.#services;
    if (!this.#hasTable) this.#hasTable = await hasSchedules(db);
    if (!this.#hasTable) return MAX_ABSENCE_MS;
    const nowMs = await this.#time.now();
    const absentMs = this.#absentAtMs === null ? 0 : monotonic() - this.#absentAtMs;
    this.#startMs = Math.min(this.#startMs ?? nowMs - absentMs, nowMs);
    const startingMs = this.#startMs + STARTING_MS - nowMs;
    const sinceMs = startingMs > 0 ? this.#startMs : null;
    const progress = { isContended: false, isBehind: false };
    let after: DuePlace | null = null;
    let due: DueSchedules;
    try {
      do {
        due = await dueSchedules(db, { nowMs, sinceMs, after });
        this.#logInvalid(due);
        await this.#offer(due, nowMs, progress);
        after = due.after;
      } while (after !== null && !this.#stop.signal.aborted);
    } catch (error) {
      const isRefused = codeOf((error as Error).cause) === INSUFFICIENT_PRIVILEGE;
      this.#hasTable = await hasSchedules(db);
      if (this.#hasTable && !isRefused) throw error;
      const why = { error: messageOf(error) };
      this.#logOnce(why.error, (logger) => logger.warn(why, "this worker cannot run schedules"));
      return MAX_ABSENCE_MS;
    }
    if (progress.isBehind) return 0;
    const nextMs = (due.nextMs ?? Number.POSITIVE_INFINITY) - nowMs;
    const waits = [nextMs, MAX_WAIT_MS, ...(startingMs > 0 ? [startingMs] : [])];
    return Math.min(...waits, progress.isContended ? CONTENDED_MS : MAX_WAIT_MS);
  }

  async #offer(
    { due }: DueSchedules,
    nowMs: number,
    progress: { isContended: boolean; isBehind: boolean },
  ): Promise<void> {
    const startMs = this.#startMs ?? nowMs;
    const most = Math.max(1, Math.floor(MAX_TICKS / Math.max(1, due.length)));
    const ticks = due
      .filter(
        ({ definition: { entry } }) => (this.#refused.get(entry.identifier) ?? 0) <= monotonic(),
      )
      .map((schedule) => dueTicks(schedule, { nowMs, startMs, most }));
    const takenNames = new Set<string>();
    const isOver = !(await offerTicks(
      this.#services,
      this.#source(takenNames),
      ticks.flat(),
      this.#stop.signal,
    ));
    if (isOver) return;
    for (const last of ticks.flatMap((some) => some.at(-1) ?? [])) {
      if (!takenNames.has(last.entry.identifier)) progress.isContended = true;
      else if (last.toMs !== null && last.toMs <= nowMs) progress.isBehind = true;
    }
  }

  #source(takenNames: Set<string>): TickSource<ScheduleTick> {
    const { db, hooks } = this.#services;
    const schedule = async (offers: readonly OfferedTick<ScheduleTick>[]) => {
      const done = await scheduleTicks(db, offers);
      for (const { offer } of done) {
        takenNames.add(offer.identifier);
        if (offer.isDropped) this.#logDropped(offer);
      }
      return done;
    };
    const isIntercepted = hooks.interceptors("beforeJobSchedule").length > 0;
    const jobOf = (
      { schedule: { definition }, tickMs, isBackfill }: ScheduleTick,
      isWhole: boolean,
    ) => scheduledJob(definition, tickMs, { isBackfill, isWhole });
    return {
      jobOf: (tick) => (tick.isDropped ? null : jobOf(tick, isIntercepted)),
      // Interceptors receive the parsed payload, in which numbers may have lost digits of the stored text.
      ...(isIntercepted
        ? { exactPayload: (tick: ScheduleTick) => jobOf(tick, false).payload }
        : {}),
      schedule,
      // Moves the schedule to its next tick without adding the job.
      refused: async (offer) => {
        try {
          await schedule([{ ...offer, job: null }]);
        } catch (error) {
          if (!isRefusedResult(error)) throw error;
          if (this.#refused.size >= MAX_LOGGED) this.#refused.clear();
          this.#refused.set(offer.identifier, monotonic() + REFUSED_MS);
          takenNames.add(offer.identifier);
        }
      },
    };
  }

  #logDropped({ identifier, fromMs, toMs }: OfferedTick<ScheduleTick>): void {
    const fields = {
      schedule: identifier,
      from: new Date(fromMs),
      next: toMs === null ? null : new Date(toMs),
    };
    this.#services.logger.info(
      fields,
      "ticks that were missed are too old to be backfilled, and add no jobs",
    );
  }

  #logInvalid({ invalid }: DueSchedules): void {
    for (const { identifier, revision, problem } of invalid) {
      const fields = { schedule: identifier, error: problem };
      this.#logOnce(`${revision} ${identifier}`, (logger) =>
        logger.error(fields, "a schedule is invalid and adds nothing on this worker"),
      );
    }
  }

  #logOnce(name: string, log: (logger: Logger) => void): void {
    if (this.#logged.has(name)) return;
    if (this.#logged.size >= MAX_LOGGED) this.#logged.clear();
    this.#logged.add(name);
    log(this.#services.logger);
  }
}
