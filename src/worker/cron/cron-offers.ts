// Turns due ticks into jobs and offers them to the database, which takes each tick once. Plugins
// are asked first, and what nobody can store is left out without holding up the rest.
import { messageOf } from "../../base/errors.ts";
import type { Logger } from "../../base/logger.ts";
import type { Database } from "../../database/database.ts";
import { isRefusal } from "../../database/errors/database-errors.ts";
import { cronJob } from "../../domain/cron/cron-entry.ts";
import { resolveJob } from "../../domain/job-spec.ts";
import { type CronOffer, scheduleCron } from "../../queue/cron/schedule-cron.ts";
import type { Hooks } from "../task/hooks.ts";
import { intercepted } from "../task/schedule-interceptors.ts";
import type { DueTick } from "./cron-timeline.ts";

export interface CronServices {
  /** Of the worker, at this moment. */
  workerId(): string;
  readonly db: Database;
  readonly hooks: Hooks;
  readonly logger: Logger;
  /** The last tick of an entry is later than one that has just come. */
  onPassed?(identifier: string, lastExecutionMs: number): void;
}

interface TickOffer extends CronOffer, DueTick {}

/**
 * Handles ticks, in order. After `signal` aborts, waits no longer for a plugin and offers nothing;
 * false then. Throws what the database says when it is worth another attempt.
 */
export async function offerTicks(
  services: CronServices,
  due: readonly DueTick[],
  signal: AbortSignal,
): Promise<boolean> {
  const offers = await unlessAborted(prepared(services, due), signal);
  if (offers === null) return false;
  await store(services, offers);
  emitTicks(services, due);
  return true;
}

// The interceptors are asked before the database decides: their time must not be spent inside a
// transaction. So several workers may ask about one tick; the answer of the one that wins counts.
// A tick that is skipped or refused is done with, too: no start later makes up for it.
async function prepared(services: CronServices, due: readonly DueTick[]): Promise<TickOffer[]> {
  const offers: TickOffer[] = [];
  for (const tick of due) {
    const { entry, tickMs, isBackfill } = tick;
    const offer = { ...tick, identifier: entry.identifier };
    try {
      const job = await intercepted(services.hooks, cronJob(entry, tickMs, isBackfill));
      if (job !== null) resolveJob(job);
      offers.push({ ...offer, job });
    } catch (error) {
      logRefusal(services.logger, tick, error);
      offers.push({ ...offer, job: null });
    }
  }
  return offers;
}

/** Divides what the database refuses until the bad one is alone, and leaves that out. */
async function store(services: CronServices, offers: readonly TickOffer[]): Promise<void> {
  try {
    for (const { offer, job } of await scheduleCron(
      services.db,
      offers,
      services.onPassed?.bind(services),
    )) {
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
    if (!isRefusal(error) || first === undefined) throw error;
    if (offers.length === 1) return logRefusal(services.logger, first, error);
    const half = Math.ceil(offers.length / 2);
    await store(services, offers.slice(0, half));
    await store(services, offers.slice(half));
  }
}

function logRefusal(logger: Logger, { entry, tickMs }: DueTick, error: unknown): void {
  logger.error(
    { entry: entry.identifier, tick: new Date(tickMs), error: messageOf(error) },
    "the job of a cron entry was refused; this tick adds nothing",
  );
}

function emitTicks({ hooks, workerId }: CronServices, due: readonly DueTick[]): void {
  if (!hooks.hasObservers("cron:tick")) return;
  for (const [tickMs, ticks] of Map.groupBy(due, ({ tickMs }) => tickMs)) {
    const taskIdentifiers = ticks.map(({ entry }) => entry.taskIdentifier);
    hooks.emit("cron:tick", { workerId: workerId(), timestamp: new Date(tickMs), taskIdentifiers });
  }
}

/** The result of `work`, or null as soon as `signal` aborts. */
async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T | null> {
  const aborted = Promise.withResolvers<null>();
  const give = () => aborted.resolve(null);
  signal.addEventListener("abort", give, { once: true });
  if (signal.aborted) give();
  try {
    return await Promise.race([work, aborted.promise]);
  } finally {
    signal.removeEventListener("abort", give);
  }
}
