// Adds the jobs of cron entries' ticks: one job for each tick, however many workers offer the tick.
// A transaction locks and reads the entries' rows in the ledger (known-crontabs.ts), then advances them and adds the
// jobs. Other workers, also Graphile workers, wait until a row is unlocked, and then find that its last_execution has
// advanced. A transaction can have many ticks, so a backfill of a thousand ticks takes few round trips.

import { inTransaction } from "../../database/connection/transaction.ts";
import type { Database } from "../../database/database.ts";
import type { Job } from "../../domain/job.ts";
import type { JobToAdd } from "../../domain/job-spec.ts";
import { addJobs } from "../add/add-jobs.ts";
import { advanceCrontabs, lockCrontabs } from "./known-crontabs.ts";

/** A due tick of a cron entry, which this worker offers to schedule. */
export interface CronOffer {
  readonly identifier: string;
  readonly tickMs: number;
  /** The job to add; null: the tick counts as done and adds no job. */
  readonly job: JobToAdd | null;
}

export interface ScheduledTick<Offer extends CronOffer> {
  readonly offer: Offer;
  readonly job: Job | null;
}

/**
 * Schedules the offers whose tick is later than the last scheduled tick of their entry, and returns these offers, in
 * order. Offers must be in the order of their ticks, at most 10,000. Throws WorkerError; then no offer is scheduled,
 * unless the connection was lost. After a lost connection the result is unknown, and it is safe to repeat the same
 * offers. `onPassed` is called for each offer whose tick is earlier than the last scheduled tick of its entry.
 */
export async function scheduleCron<Offer extends CronOffer>(
  db: Database,
  offers: readonly Offer[],
  onPassed: (identifier: string, lastExecutionMs: number) => void = () => {},
): Promise<ScheduledTick<Offer>[]> {
  const identifiers = [...new Set(offers.map(({ identifier }) => identifier))];
  const firstMs = offers[0]?.tickMs;
  if (firstMs === undefined) return [];
  return inTransaction(db, async (transaction) => {
    const crontabs = await lockCrontabs(transaction, identifiers, firstMs);
    const lastMs = new Map(crontabs.map((one) => [one.identifier, one.lastExecutionMs]));
    for (const { identifier, tickMs } of offers) {
      const passedMs = lastMs.get(identifier) ?? null;
      if (passedMs !== null && passedMs > tickMs) onPassed(identifier, passedMs);
    }
    const ours = offers.filter(
      ({ identifier, tickMs }) => tickMs > (lastMs.get(identifier) ?? Number.NEGATIVE_INFINITY),
    );
    if (ours.length === 0) return [];
    await advanceCrontabs(
      transaction,
      new Map(ours.map(({ identifier, tickMs }) => [identifier, tickMs])),
    );
    const jobs = await addJobs(
      transaction,
      ours.flatMap(({ job }) => job ?? []),
    );
    let added = 0;
    return ours.map((offer) => ({
      offer,
      job: offer.job === null ? null : (jobs[added++] ?? null),
    }));
  });
}
