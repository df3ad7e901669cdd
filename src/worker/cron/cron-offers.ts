// Turns due ticks of cron entries and schedules into jobs. First, interceptors may change or skip the job of a tick.
// The tick is then offered to the database, which adds the job unless another worker has handled the tick.
import { unlessAborted } from "../../base/clock.ts";
import { messageOf } from "../../base/errors.ts";
import type { Logger } from "../../base/logger.ts";
import type { Database } from "../../database/database.ts";
import { isRefusedResult } from "../../database/errors/database-errors.ts";
import { cronJob } from "../../domain/cron/cron-entry.ts";
import { type JobToAdd, resolveJob } from "../../domain/job-spec.ts";
import { payloadText } from "../../domain/payload.ts";
import {
  type CronOffer,
  type ScheduledTick,
  scheduleCron,
} from "../../queue/cron/schedule-cron.ts";
import { interceptAdd } from "../task/call-interceptors.ts";
import type { Hooks } from "../task/hooks.ts";
import type { DueTick } from "./cron-timeline.ts";

export interface CronServices {
  /** Returns the worker's current id. */
  workerId(): string;
  readonly db: Database;
  readonly hooks: Hooks;
  readonly logger: Logger;
  /** Called when the last tick that the database has stored for an entry is later than an offered tick. */
  onPassed?(identifier: string, lastExecutionMs: number): void;
}

/** A source of ticks: the entries of a program, or the schedules of the database. */
export interface TickSource<Tick extends DueTick> {
  /** The job of a tick, for the interceptors; null: the tick adds no job. */
  jobOf(tick: Tick): JobToAdd | null;
  /** The payload to store if no interceptor has changed the payload of jobOf(). Default: the payload of jobOf(). */
  exactPayload?(tick: Tick): unknown;
  /** Adds the jobs of those offers whose ticks no worker has handled, and returns these offers and their jobs. */
  schedule(offers: readonly OfferedTick<Tick>[]): Promise<ScheduledTick<OfferedTick<Tick>>[]>;
  /** Called for an offer whose job the database refuses. */
  refused?(offer: OfferedTick<Tick>): Promise<void>;
}

export type OfferedTick<Tick extends DueTick> = Tick & CronOffer;

/** Returns the source of the ticks of the program's cron entries. */
export const entriesOf = ({ db, onPassed }: CronServices): TickSource<DueTick> => ({
  jobOf: ({ entry, tickMs, isBackfill }) => cronJob(entry, tickMs, isBackfill),
  schedule: (offers) => scheduleCron(db, offers, onPassed),
});

/**
 * Handles ticks in order, and resolves to true. If `signal` aborts before the interceptors have ended, offers nothing
 * and resolves to false. If the database fails, rejects, and the ticks can be offered again.
 */
export async function offerTicks<Tick extends DueTick>(
  services: CronServices,
  source: TickSource<Tick>,
  due: readonly Tick[],
  signal: AbortSignal,
): Promise<boolean> {
  const offers = await unlessAborted(prepareOffers(services, source, due), signal);
  if (offers === null) return false;
  if (offers.length > 0) await store(services, source, offers);
  emitTicks(
    services,
    due.filter(({ isDropped }) => isDropped !== true),
  );
  return true;
}

// Interceptors run before the transaction, which must stay short. So several workers may call their interceptors for
// one tick. A tick without a job is offered, too, so that the tick counts as handled and is not backfilled.
async function prepareOffers<Tick extends DueTick>(
  services: CronServices,
  source: TickSource<Tick>,
  due: readonly Tick[],
): Promise<OfferedTick<Tick>[]> {
  const offers: OfferedTick<Tick>[] = [];
  for (const tick of due) {
    const offer = { ...tick, identifier: tick.entry.identifier };
    try {
      const job = await interceptedJob(services, source, tick);
      if (job !== null) resolveJob(job);
      offers.push({ ...offer, job });
    } catch (error) {
      logRefusal(services.logger, tick, error);
      offers.push({ ...offer, job: null });
    }
  }
  return offers;
}

async function interceptedJob<Tick extends DueTick>(
  { hooks }: CronServices,
  source: TickSource<Tick>,
  tick: Tick,
): Promise<JobToAdd | null> {
  const tickJob = source.jobOf(tick);
  if (tickJob === null || source.exactPayload === undefined) {
    return tickJob === null ? null : interceptAdd(hooks, tickJob);
  }
  const before = payloadText(tickJob.payload);
  const job = await interceptAdd(hooks, tickJob);
  const isUnchanged = job !== null && payloadText(job.payload) === before;
  return isUnchanged ? { ...job, payload: source.exactPayload(tick) } : job;
}

/** If a job is refused, halves the list until that job is alone, and leaves out only that job. */
async function store<Tick extends DueTick>(
  services: CronServices,
  source: TickSource<Tick>,
  offers: readonly OfferedTick<Tick>[],
): Promise<void> {
  try {
    for (const { offer, job } of await source.schedule(offers)) {
      if (job === null) continue;
      services.hooks.emit("cron:scheduled", {
        workerId: services.workerId(),
        timestamp: new Date(offer.tickMs),
        identifier: offer.identifier,
        taskIdentifier: job.taskIdentifier ?? offer.entry.taskIdentifier,
        jobId: job.id,
        backfilled: offer.isBackfill,
      });
    }
  } catch (error) {
    const [first] = offers;
    if (!isRefusedResult(error) || first === undefined) throw error;
    if (offers.length === 1) {
      logRefusal(services.logger, first, error);
      await source.refused?.(first);
      return;
    }
    const half = Math.ceil(offers.length / 2);
    await store(services, source, offers.slice(0, half));
    await store(services, source, offers.slice(half));
  }
}

function logRefusal(logger: Logger, { entry, tickMs }: DueTick, error: unknown): void {
  logger.error(
    { entry: entry.identifier, tick: new Date(tickMs), error: messageOf(error) },
    "the job of a cron entry or schedule was refused; this tick adds nothing",
  );
}

function emitTicks({ hooks, workerId }: CronServices, due: readonly DueTick[]): void {
  if (!hooks.hasObservers("cron:tick")) return;
  for (const [tickMs, ticks] of Map.groupBy(due, ({ tickMs }) => tickMs)) {
    const taskIdentifiers = ticks.map(({ entry }) => entry.taskIdentifier);
    hooks.emit("cron:tick", { workerId: workerId(), timestamp: new Date(tickMs), taskIdentifiers });
  }
}
