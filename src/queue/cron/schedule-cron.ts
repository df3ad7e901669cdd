// Adds at most one job for each tick of a cron entry, however many workers have the entry. One transaction locks the
// rows of the entries in the ledger (known-crontabs.ts), advances last_execution in these rows, and adds the jobs.

import { inTransaction } from "../../database/connection/transaction.ts";
import type { Database } from "../../database/database.ts";
import type { Job } from "../../domain/job.ts";
import type { JobToAdd } from "../../domain/job-spec.ts";
import { addJobs } from "../add/add-jobs.ts";
import { advanceCrontabs, lockCrontabs } from "./known-crontabs.ts";

/** A due tick of a cron entry. A worker may have handled the tick already. */
export interface CronOffer {
  readonly identifier: string;
  readonly tickMs: number;
  /** The job to add; null: the tick adds no job, but counts as handled. */
  readonly job: JobToAdd | null;
}

export interface ScheduledTick<Offer extends CronOffer> {
  readonly offer: Offer;
  readonly job: Job | null;
}

/**
 * Handles each offer whose tick is later than the last handled tick of its entry. Returns these offers, in order.
 * `offers`: at most 10,000, in the order of their ticks. `onPassed` is called for each offer whose tick is earlier than
 * the last handled tick. Throws WorkerError. If the connection was lost, the result is unknown, and the same call can
 * be repeated.
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
