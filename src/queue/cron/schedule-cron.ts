// Adds the jobs of ticks: each tick of an entry once, however many workers offer it.
//
// Graphile Worker needs one statement for each tick: it inserts into the ledger, on conflict advances last_execution,
// and adds the jobs of the rows that it advanced. This library locks and reads the rows first, in the same transaction
// as the jobs. For other workers the effect is the same: they wait for the row and then find it advanced. Many ticks
// fit into one transaction, so a backfill of a thousand ticks takes a few round trips instead of a thousand.

import { inTransaction } from "../../database/connection/transaction.ts";
import type { Database } from "../../database/database.ts";
import type { Job } from "../../domain/job.ts";
import type { JobToAdd } from "../../domain/job-spec.ts";
import { addJobs } from "../add/add-jobs.ts";
import { advanceCrontabs, lockCrontabs } from "./known-crontabs.ts";

/** A tick of an entry that is due. */
export interface CronOffer {
  /** The entry's identifier in the ledger. */
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
 * Schedules the offers that no worker has scheduled yet, and returns them, in order. Either all of this happens or
 * nothing. Offers must be in the order of their ticks, at most 10,000. Throws WorkerError. After an error with an
 * unknown result (a lost connection) it is safe to repeat the same offers. `onPassed` is called for entries whose last
 * tick is later than an offer.
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
