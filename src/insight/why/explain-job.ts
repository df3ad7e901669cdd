// Explains why a job is in its condition. An explanation needs at most about ten statements, which use indexes or read
// small tables.
import type { Database } from "../../database/database.ts";
import { type Condition, conditionData } from "../../domain/condition.ts";
import type { Value } from "../../domain/value.ts";
import { readCancellations } from "../controls/being-cancelled.ts";
import { listPauses, type Pause, pauseOf } from "../controls/list-pauses.ts";
import { readLimitOfJob } from "../limits/limit-of-job.ts";
import { shownGroup } from "../query/facts/error-labels.ts";
import type { Cause } from "./cause.ts";
import { type CauseFacts, causesOf, waitsSince } from "./causes.ts";
import { type Holder, lockRefusalOf, readHolders, readUnsettledJobs } from "./holders.ts";
import { readFetchedBefore, readHoldingJob } from "./holding-job.ts";
import { readJobFacts, type WhyFacts } from "./job-facts.ts";
import { nextAttempts } from "./next-attempts.ts";
import { readPlace } from "./queue-place.ts";
import { sentenceOf } from "./sentence.ts";
import { type JobTableFacts, readTableFacts } from "./table-facts.ts";
import { type LockedJobs, readTaskCoverage } from "./task-coverage.ts";

export interface JobExplanation {
  readonly id: string;
  readonly condition: Condition;
  readonly sentence: string;
  /**
   * When the job was locked, became due, last failed or was added, depending on its condition: RFC 3339. null: the job
   * last failed at an unknown time.
   */
  readonly since: string | null;
  readonly causes: readonly Cause[];
  /** The number of due jobs before this job (see QueuePlace); null if this job is locked, failed or not due. */
  readonly ahead: Value | null;
  /**
   * The number of due jobs in the same named queue, including this job; null if this job is locked, failed or not due,
   * or has no named queue.
   */
  readonly of: Value | null;
  /** `next` and `last` of nextAttempts(); [] and null if the job is not due at a time in the future. */
  readonly nextAttempts: readonly string[];
  readonly lastAttemptAt: string | null;
  readonly sameError: Value | null;
  /** The fingerprint of the job's error group; null unless the job is failed or retrying and has an error. */
  readonly errorGroup: string | null;
  readonly asOf: string;
}

/** Returns the number of jobs in the error group of `errorStart`, including the explained job; null if unknown. */
export type SameError = (
  task: string | null,
  errorStart: string,
  table: JobTableFacts,
) => Promise<Value | null>;

/** Results of expensive reads, which an Insight caches. */
export interface SharedFacts {
  readonly sameError: SameError;
  /**
   * Returns how many jobs each worker has locked; null: not read yet, or not all jobs were counted. Called only for a
   * large table.
   */
  readonly lockedJobs: () => LockedJobs | null;
}

const NOTHING_SHARED: SharedFacts = Object.freeze({
  sameError: async () => null,
  lockedJobs: () => null,
});

/** Returns the explanation of a job; null if the job does not exist. Throws InputError for an invalid id. */
export async function explainJob(
  db: Database,
  id: string,
  shared: SharedFacts = NOTHING_SHARED,
): Promise<JobExplanation | null> {
  const [job, table] = await Promise.all([readJobFacts(db, id), readTableFacts(db)]);
  if (job === null) return null;
  const facts = await readCauseFacts(db, job, table, shared);
  const isAhead = isWaiting(job) && !job.isDue;
  const attempts = isAhead && !job.isNever ? nextAttempts(job) : null;
  return {
    id: job.id,
    condition: job.condition,
    sentence: sentenceOf(facts),
    since: hasUnknownTime(job) ? null : new Date(sinceMs(job)).toISOString(),
    causes: causesOf(facts),
    ahead: facts.place?.ahead ?? null,
    of: facts.place?.of ?? null,
    nextAttempts: attempts?.next ?? [],
    lastAttemptAt: attempts?.last ?? null,
    sameError: facts.sameError,
    errorGroup: hasFailed(job) ? shownGroup(db, job.task, job.errorStart ?? "") : null,
    asOf: table.asOf,
  };
}

async function readCauseFacts(
  db: Database,
  job: WhyFacts,
  table: JobTableFacts,
  { sameError, lockedJobs }: SharedFacts,
): Promise<CauseFacts> {
  const { hasWorkers, asOf } = table;
  const { queue } = job;
  const waits = isWaiting(job);
  const [holderFacts, pause, limit, requests, place, coverage, same, unsettled] = await Promise.all(
    [
      readHolder(db, job, table),
      waits ? pauseOfJob(db, job) : null,
      (waits && job.isDue) || job.condition === "fetched" ? readLimitOfJob(db, job, asOf) : null,
      readCancellations(db, job.condition === "failed" ? [] : [job.id]),
      waits && job.isDue ? readPlace(db, { ...job, queueId: queue?.id ?? null }, asOf) : null,
      readTaskCoverage(db, waits && job.task !== null ? [job.task] : [], {
        hasWorkers: hasWorkers && waits,
        jobLocks: table.isSmall ? "read" : (lockedJobs() ?? "unknown"),
        jobId: job.id,
      }),
      hasFailed(job) ? sameError(job.task, job.errorStart ?? "", table) : null,
      hasWorkers && waits && job.isDue ? readUnsettledJobs(db) : [],
    ],
  );
  return {
    schema: db.schema.name,
    job,
    ...holderFacts,
    pause,
    limit,
    cancellation: requests.get(job.id) ?? null,
    lockRefusal: lockRefusalOf({ id: job.id, queueId: queue?.id ?? null }, unsettled),
    place,
    coverage,
    hasWorkers,
    sameError: same,
  };
}

const isWaiting = ({ condition, lockedMs }: WhyFacts): boolean =>
  condition !== "failed" && lockedMs === null;

/**
 * Returns a pause of all jobs, of the job's task or of its named queue; null: none. If a pause locks the queue and the
 * list of pauses has no such pause, returns a pause of the queue without details.
 */
async function pauseOfJob(db: Database, { task, queue }: WhyFacts): Promise<Pause | null> {
  const known = pauseOf(await listPauses(db), task, queue?.name ?? null);
  if (known !== undefined || queue?.isPaused !== true) return known ?? null;
  const unknown = {
    ...{ pausedAt: new Date(0), resumeAt: null, hasEnded: false },
    ...{ reason: null, pausedBy: null, isBackOff: false },
  };
  return { scope: "queue", name: queue.name, ...unknown };
}

async function readHolder(
  db: Database,
  job: WhyFacts,
  table: JobTableFacts,
): Promise<Pick<CauseFacts, "holder" | "holdingJob" | "fetchedBefore">> {
  const { condition, queue, lockedBy } = job;
  const holderId = condition === "blocked" ? queue?.lockedBy : lockedBy;
  const ids = holderId == null ? [] : [holderId];
  const holders = await readHolders(db, table.hasWorkers, ids);
  const holder: Holder | null = holders.get(holderId ?? "") ?? null;
  const nothing = { holder, holdingJob: null, fetchedBefore: null };
  if (holder === null || queue === null || condition === "running") return nothing;
  const [holdingJob, fetchedBefore] = await Promise.all([
    readHoldingJob(db, queue.id, holder, table),
    condition === "fetched" ? readFetchedBefore(db, queue.id, job, holder, table) : null,
  ]);
  return { holder, holdingJob, fetchedBefore };
}

const hasFailed = ({ condition, errorStart }: WhyFacts): boolean =>
  errorStart !== null && (condition === "failed" || condition === "retrying");

const hasUnknownTime = (job: WhyFacts): boolean => hasFailed(job) && !job.isFailureTimed;

function sinceMs(job: WhyFacts): number {
  const { isLocked, waits } = conditionData[job.condition];
  if (isLocked) return job.lockedMs ?? job.nowMs;
  if (waits) return waitsSince(job);
  return job.attempts > 0 ? job.failedMs : job.createdMs;
}
