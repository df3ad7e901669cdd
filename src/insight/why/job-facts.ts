// Reads the facts that explain why a job does not run.

import { type Database, query, type Statement } from "../../database/database.ts";
import { isAtMost } from "../../database/unpacked.ts";
import type { Condition } from "../../domain/condition.ts";
import { ERROR_START } from "../../domain/error-group.ts";
import { DEADLINE, deadlineOf, RETRY } from "../../domain/job-flags.ts";
import { checkedJobId } from "../../domain/job-ids.ts";
import { ageText } from "../../domain/portable/ages.ts";
import {
  allAttemptsAre,
  deadlineIn,
  isCancelled,
  isMarkedFailed,
  momentText,
} from "../../domain/words.ts";
import { jobNames } from "../../queue/sql/job-row.ts";
import {
  isBlockedQueue,
  isPausedQueue,
  lockHolder,
  queueHolder,
  queueLockedAt,
} from "../../queue/sql/lock.ts";
import { dateOf, microseconds, timeText } from "../../queue/sql/moments.ts";
import { conditionOf } from "../expressions/condition.ts";
import { failedAt, hasFormulaDelay, isFailureTimed } from "../expressions/failed-at.ts";
import type { Heartbeats } from "../expressions/heartbeats.ts";
import { heartbeatsOf } from "../expressions/heartbeats.ts";
import { isUnchanged } from "../read/lost-attempts.ts";

export interface WhyFacts {
  readonly id: string;
  readonly condition: Condition;
  readonly task: string | null;
  readonly priority: number;
  readonly runAtMs: number;
  readonly runAtText: string;
  readonly isDue: boolean;
  /** Whether `run_at` is `infinity`. */
  readonly isNever: boolean;
  readonly attempts: number;
  readonly maxAttempts: number;
  /** The first 600 characters of the last error; null if there is no error. */
  readonly errorStart: string | null;
  readonly createdMs: number;
  /**
   * The time at which the last attempt failed, or at which a user failed the job. If `isFailureTimed` is false: the
   * latest possible time.
   */
  readonly failedMs: number;
  readonly isFailureTimed: boolean;
  /**
   * Whether Graphile Worker's delays apply: the flags name no retry policy, and if `attempts` is not 0, `run_at` fits
   * such a delay.
   */
  readonly hasFormulaDelay: boolean;
  /** Milliseconds since 1970; null without a deadline, or if the flags exceed MAX_FLAGS_BYTES. */
  readonly deadlineMs: number | null;
  /** Whether nothing has written `updated_at` since the job was added. */
  readonly isUnchanged: boolean;
  readonly lockedMs: number | null;
  readonly lockedBy: string | null;
  readonly queue: QueueFacts | null;
  /** Whether the row of the job's queue was deleted. */
  readonly isQueueLost: boolean;
  readonly nowMs: number;
}

/**
 * Returns a text such as `Cancelled: wrong file` for a cancelled job, or `Marked failed …` for a job that a user failed
 * without a reason; null for other jobs.
 */
export function endedByHand({ errorStart }: WhyFacts): string | null {
  const [line = ""] = (errorStart ?? "").split("\n", 1);
  if (!isMarkedFailed(line)) return null;
  return isCancelled(line) ? `C${line.slice(1)}` : line;
}

/** Returns `3 h ago`, or `3 h ago or earlier` if `isFailureTimed` is false. */
export const failedAgo = ({ nowMs, failedMs, isFailureTimed }: WhyFacts): string =>
  `${ageText(nowMs - failedMs)} ago${isFailureTimed ? "" : " or earlier"}`;

/**
 * Returns why a failed job has no attempts left. `isCertain`: whether `attempts` counts only attempts that were made. A
 * change by hand may have set `attempts` higher.
 */
export const spentText = (job: WhyFacts, isCertain: boolean): string =>
  endedByHand(job) ??
  (isCertain ? `${allAttemptsAre(job.maxAttempts)} used up` : "No attempts are left");

/** Returns a text such as `last attempt 3 m ago`; only `3 m ago` if endedByHand() returns a text. */
export function lastAttemptText(job: WhyFacts): string {
  if (endedByHand(job) !== null) return failedAgo(job);
  const what = job.isFailureTimed ? "attempt" : "failed or changed";
  return `last ${what} ${ageText(job.nowMs - job.failedMs)} ago`;
}

/** Returns a text such as `Its deadline passed at …`; null if the job did not fail because of its deadline. */
export function deadlineText({ errorStart }: WhyFacts): string | null {
  const deadline = deadlineIn(errorStart ?? "");
  if (deadline === null) return null;
  const ms = Date.parse(deadline);
  return Number.isNaN(ms) ? "Its deadline has passed" : `Its deadline passed at ${momentText(ms)}`;
}

export interface QueueFacts {
  readonly id: number;
  readonly name: string;
  readonly lockedMs: number | null;
  readonly lockedBy: string | null;
  readonly isPaused: boolean;
}

/** Returns the facts; null if the job does not exist. Throws InputError for an invalid id. */
export async function readJobFacts(db: Database, id: string): Promise<WhyFacts | null> {
  const jobId = checkedJobId(id);
  const [row] = await query<FactsRow>(db, factsSql(await heartbeatsOf(db)), [jobId]);
  if (row === undefined) return null;
  const runAtMs = msOf(row.run_at_us);
  return {
    id: row.id,
    condition: row.condition,
    task: row.task,
    priority: row.priority,
    runAtMs,
    runAtText: timeText(row.run_at_us),
    isDue: row.is_due,
    isNever: row.is_never,
    attempts: row.attempts,
    maxAttempts: row.max_attempts,
    errorStart: row.error_start,
    createdMs: msOf(row.created_us),
    failedMs: msOf(row.failed_us),
    isFailureTimed: row.is_failure_timed,
    hasFormulaDelay: row.has_formula_delay,
    deadlineMs: deadlineOf(row.deadline_flags?.split(" ") ?? []),
    isUnchanged: row.is_unchanged,
    lockedMs: row.locked_us === null ? null : msOf(row.locked_us),
    lockedBy: row.locked_by,
    queue: queueOf(row),
    isQueueLost: row.is_queue_lost,
    nowMs: msOf(row.now_us),
  };
}

function queueOf(row: FactsRow): QueueFacts | null {
  if (row.queue_id === null || row.queue_name === null) return null;
  const { queue_locked_us: us } = row;
  return {
    id: row.queue_id,
    name: row.queue_name,
    lockedMs: us === null ? null : msOf(us),
    lockedBy: row.queue_locked_by,
    isPaused: row.queue_is_paused,
  };
}

const msOf = (us: string) => dateOf(us).getTime();

interface FactsRow {
  readonly id: string;
  readonly condition: Condition;
  readonly task: string | null;
  readonly priority: number;
  readonly run_at_us: string;
  readonly is_due: boolean;
  readonly is_never: boolean;
  readonly attempts: number;
  readonly max_attempts: number;
  readonly error_start: string | null;
  readonly created_us: string;
  readonly failed_us: string;
  readonly is_failure_timed: boolean;
  readonly has_formula_delay: boolean;
  /** The flags that set a deadline, separated by spaces. */
  readonly deadline_flags: string | null;
  readonly is_unchanged: boolean;
  readonly locked_us: string | null;
  readonly locked_by: string | null;
  readonly queue_id: number | null;
  readonly queue_name: string | null;
  readonly is_queue_lost: boolean;
  readonly queue_locked_us: string | null;
  readonly queue_locked_by: string | null;
  readonly queue_is_paused: boolean;
  readonly now_us: string;
}

/** In bytes. Larger flags count as flags with a retry policy and without a deadline. */
const MAX_FLAGS_BYTES = 65_536;
const namesNoPolicy = `jobs.flags is null or case when ${isAtMost("jobs.flags", MAX_FLAGS_BYTES)}
      then pg_catalog.strpos(jobs.flags::text, '"${RETRY}') = 0 else false end`;

const deadlineFlags = `case when ${isAtMost("jobs.flags", MAX_FLAGS_BYTES)}
      then (select pg_catalog.string_agg(flag, ' ') from pg_catalog.jsonb_object_keys(jobs.flags) as flag
        where pg_catalog.strpos(flag, '${DEADLINE}') = 1) end`;

const factsSql =
  (heartbeats: Heartbeats): Statement =>
  (s) =>
    `
  select jobs.id, tasks.identifier as task, jobs.priority, jobs.attempts, jobs.max_attempts,
    ${conditionOf("jobs", heartbeats, { isQueueLocked: isBlockedQueue("queues") })} as condition,
    ${microseconds("jobs.run_at")} as run_at_us, jobs.run_at <= pg_catalog.now() as is_due,
    jobs.run_at = 'infinity' as is_never, pg_catalog.left(jobs.last_error, ${ERROR_START}) as error_start,
    ${microseconds("jobs.created_at")} as created_us, ${microseconds(failedAt("jobs"))} as failed_us,
    ${isFailureTimed("jobs")} as is_failure_timed, ${isUnchanged("jobs")} as is_unchanged,
    (${namesNoPolicy}) and (jobs.attempts = 0 or ${hasFormulaDelay("jobs")}) as has_formula_delay,
    ${deadlineFlags} as deadline_flags,
    ${microseconds("jobs.locked_at")} as locked_us, ${lockHolder("jobs")} as locked_by,
    queues.id as queue_id, queues.queue_name,
    jobs.job_queue_id is not null and queues.id is null as is_queue_lost, ${microseconds(queueLockedAt("queues"))} as queue_locked_us,
    ${queueHolder("queues")} as queue_locked_by, ${isPausedQueue("queues")} as queue_is_paused, ${microseconds("pg_catalog.now()")} as now_us
  from ${s}._private_jobs as jobs
  ${jobNames(s)}
  where jobs.id = $1::bigint`;
