// Turns due ticks into jobs and offers them to the database, which takes each tick once. Plugins
// are asked first, and what nobody can store is left out without holding up the rest.
import { messageOf } from "../base/errors.ts";
import type { Logger } from "../base/logger.ts";
import type { Database } from "../database/database.ts";
import { isRefusal } from "../database/database-errors.ts";
import { cronJob } from "../domain/cron-entry.ts";
import { resolveJob } from "../domain/job-spec.ts";
import { type CronOffer, scheduleCron } from "../queue/schedule-cron.ts";
import type { DueTick } from "./cron-timeline.ts";
import type { Hooks } from "./hooks.ts";
import { intercepted } from "./schedule-interceptors.ts";

export interface CronServices {
  readonly db: Database;
  readonly hooks: Hooks;
  readonly logger: Logger;
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
  await place(services, offers);
  tellOfTicks(services.hooks, due);
  return true;
}

// The interceptors are asked before the database decides: their time must not be spent inside a
// transaction. So several workers may ask about one tick; the answer of the one that wins counts.
// A tick that is skipped or refused is done with, too: no start later makes up for it.
async function prepared(services: CronServices, due: readonly DueTick[]): Promise<TickOffer[]> {
  const offers: TickOffer[] = [];
  for (const tick of due) {
    const { entry, tick_ms, isBackfill } = tick;
    const offer = { ...tick, identifier: entry.identifier };
    try {
      const job = await intercepted(services.hooks, cronJob(entry, tick_ms, isBackfill));
      if (job !== null) resolveJob(job);
      offers.push({ ...offer, job });
    } catch (error) {
      tellOfRefusal(services.logger, tick, error);
      offers.push({ ...offer, job: null });
    }
  }
  return offers;
}

/** Divides what the database refuses until the bad one is alone, and leaves that out. */
async function place(services: CronServices, offers: readonly TickOffer[]): Promise<void> {
  try {
    for (const { offer, job } of await scheduleCron(services.db, offers)) {
      if (job === null) continue;
      services.hooks.emit("cron:scheduled", {
        timestamp: new Date(offer.tick_ms),
        identifier: offer.identifier,
        taskIdentifier: job.taskIdentifier ?? offer.entry.taskIdentifier,
        jobId: job.id,
        backfilled: offer.isBackfill,
      });
    }
  } catch (error) {
    const [first] = offers;
    if (!isRefusal(error) || first === undefined) throw error;
    if (offers.length === 1) return tellOfRefusal(services.logger, first, error);
    const half = Math.ceil(offers.length / 2);
    await place(services, offers.slice(0, half));
    await place(services, offers.slice(half));
  }
}

function tellOfRefusal(logger: Logger, { entry, tick_ms }: DueTick, error: unknown): void {
  logger.error(
    { entry: entry.identifier, tick: new Date(tick_ms), error: messageOf(error) },
    "the job of a cron entry was refused; this tick adds nothing",
  );
}

function tellOfTicks(hooks: Hooks, due: readonly DueTick[]): void {
  if (!hooks.observed("cron:tick")) return;
  for (const [tick_ms, ticks] of Map.groupBy(due, ({ tick_ms }) => tick_ms)) {
    const taskIdentifiers = ticks.map(({ entry }) => entry.taskIdentifier);
    hooks.emit("cron:tick", { timestamp: new Date(tick_ms), taskIdentifiers });
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
