// Finds poison jobs: jobs that probably crash their workers. Also counts the locked jobs of each worker. No index
// selects these jobs, so the whole table of jobs is read, in small steps. Each call runs some of the steps, and again
// reads the jobs that were found earlier.
import { monotonic } from "../../base/clock.ts";
import { type Database, query, type Statement } from "../../database/database.ts";
import { ifSurelyAtMost } from "../../database/unpacked.ts";
import { memberNames, valuesAt } from "../../domain/exact/payload-values.ts";
import { isFailed } from "../../queue/sql/job-state.ts";
import { lockHolder } from "../../queue/sql/lock.ts";
import { dateOf, microseconds } from "../../queue/sql/moments.ts";
import { readCancellations } from "../controls/being-cancelled.ts";
import { isPoison, isUnchanged, lastLostBy, lostAttempts } from "../read/lost-attempts.ts";
import type { Gauge } from "../stats/gauge.ts";
import type { LockedJobs } from "../why/task-coverage.ts";

export interface PoisonJob {
  readonly id: string;
  readonly task: string | null;
  readonly attempts: number;
  readonly maxAttempts: number;
  readonly lost: number;
  readonly isRunning: boolean;
  readonly hasFailed: boolean;
  readonly runAtMs: number;
  readonly createdMs: number;
  /** When the job's row last changed, usually by a recovery, in ms since 1970; null if the job has no error. */
  readonly recoveredMs: number | null;
  /** The worker from which the job was last recovered; null if unknown. */
  readonly recoveredFrom: string | null;
  /** The ids of jobs that lost more attempts than this job, but probably did not cause all of this job's crashes. */
  readonly apartFrom: ReadonlySet<string>;
  readonly lockedBy: string | null;
  /** The first 3 fields of the payload, with values as JSON; empty if the payload is large or not an object. */
  readonly fields: readonly PayloadField[];
}

export interface PayloadField {
  readonly name: string;
  readonly value: string;
}

export interface PoisonWalkResult {
  readonly poison: readonly PoisonJob[];
  /** Jobs that crashed their workers and have failed since then. */
  readonly ended: readonly PoisonJob[];
  /** The number of locked jobs of each worker, from the last complete walk through the table; null if unknown. */
  readonly lockedJobs: LockedJobs | null;
}

export type PoisonWalk = (db: Database, gauge: Gauge) => Promise<PoisonWalkResult>;

const STEP_PAGES = 4_096;
const CALL_MS = 60;
const MAX_FOUND = 1_000;
/** The maximum number of rows of one step. */
const MAX_ROWS = 10_000;

export function createPoisonWalk(): PoisonWalk {
  let page = 0;
  let fileNode = "";
  const candidates = new Set<string>();
  const failed = new Set<string>();
  const apart = new Map<string, Set<string>>();
  let locked = new Map<string, number>();
  /** Whether this walk has counted all locked jobs so far. */
  let isWhole = true;
  let lastRound: LockedJobs | null = null;

  const startOver = () => {
    page = 0;
    locked = new Map();
    isWhole = true;
  };

  const step = async (db: Database, pages: number) => {
    const to = page + STEP_PAGES;
    const values = [`(${page},0)`, `(${to},0)`, MAX_ROWS];
    const rows = await query<FoundRow>(db, stepSql, values);
    for (const row of rows) {
      const of = row.has_failed ? failed : candidates;
      if (row.is_candidate && of.size < MAX_FOUND) of.add(row.id);
      const { locked_by: by } = row;
      const isCounted = by !== null && (locked.has(by) || locked.size < MAX_FOUND);
      if (isCounted) locked.set(by, (locked.get(by) ?? 0) + 1);
    }
    isWhole &&= rows.length < MAX_ROWS && locked.size < MAX_FOUND;
    page = to;
    if (page < pages) return false;
    lastRound = isWhole ? locked : null;
    startOver();
    return true;
  };

  return async (db, { pages, fileNode: current }) => {
    // If the table was rewritten, its rows are on other pages now, so the walk begins again.
    if (current !== fileNode) {
      startOver();
      lastRound = null;
      fileNode = current;
    }
    const until = monotonic() + CALL_MS;
    while (!(await step(db, pages)) && monotonic() < until);
    const rows = await query<JobRow>(db, jobsSql, [[...candidates, ...failed]]);
    const all = rows.map(jobOf).filter((job) => job !== null);
    const [found, ended] = [
      all.filter((job) => !job.hasFailed),
      all.filter((job) => job.hasFailed),
    ];
    for (const set of [candidates, failed]) set.clear();
    for (const { id } of found) candidates.add(id);
    for (const { id } of ended) failed.add(id);
    noteApart(found, apart);
    // A job that is being cancelled is left out, because it does not run again.
    const cancelled = await readCancellations(db, [...candidates]);
    const poison = found
      .filter(({ id }) => !cancelled.has(id))
      .map((job) => ({ ...job, apartFrom: apart.get(job.id) ?? job.apartFrom }));
    return { poison, ended, lockedJobs: lastRound };
  };
}

const MAX_COMPARED = 100;

/** Updates `apart`, which maps the id of a job to its `apartFrom`. Ids that earlier calls added to a set stay there. */
function noteApart(found: readonly PoisonJob[], apart: Map<string, Set<string>>): void {
  const compared = found.slice(0, MAX_COMPARED);
  const ids = new Set(compared.map(({ id }) => id));
  for (const id of apart.keys()) if (!ids.has(id)) apart.delete(id);
  for (const job of compared) {
    for (const other of compared) {
      if (other.lost <= job.lost || !crashedWithout(job, other)) continue;
      const from = apart.get(job.id) ?? new Set();
      apart.set(job.id, from.add(other.id));
    }
  }
}

/**
 * Whether `other` probably did not run in the last crash of `job`: `other` was recovered earlier, or at the same time
 * from another worker.
 */
export function crashedWithout(job: PoisonJob, other: PoisonJob): boolean {
  if (job.recoveredMs === null || other.recoveredMs === null) return false;
  return (
    job.recoveredMs > other.recoveredMs ||
    (job.recoveredMs === other.recoveredMs && job.recoveredFrom !== other.recoveredFrom)
  );
}

function jobOf(row: JobRow): PoisonJob | null {
  const attempted = {
    ...{ attempts: row.attempts, isLocked: row.is_locked },
    ...{ errorStart: row.error_start, isUnchanged: row.is_unchanged },
  };
  if (!isPoison(attempted) || (row.has_failed && row.error_start === null)) return null;
  return {
    id: row.id,
    task: row.task,
    attempts: row.attempts,
    maxAttempts: row.max_attempts,
    lost: lostAttempts(attempted),
    isRunning: row.is_locked,
    hasFailed: row.has_failed,
    runAtMs: dateOf(row.run_at_us).getTime(),
    createdMs: dateOf(row.created_us).getTime(),
    recoveredMs: row.error_start === null ? null : dateOf(row.updated_us).getTime(),
    recoveredFrom: lastLostBy(attempted),
    apartFrom: NONE,
    lockedBy: row.locked_by,
    fields: row.payload === null ? [] : firstFields(row.payload),
  };
}

const NONE: ReadonlySet<string> = new Set();
const FIELDS = 3;
const MAX_FIELD_LENGTH = 60;

function firstFields(payload: string): PayloadField[] {
  return memberNames(payload)
    .slice(0, FIELDS)
    .map((name) => ({ name: short(name), value: short(valuesAt(payload, [name])[0] ?? "") }));
}

function short(text: string): string {
  const letters = [...text];
  return letters.length > MAX_FIELD_LENGTH
    ? `${letters.slice(0, MAX_FIELD_LENGTH).join("")}…`
    : text;
}

interface FoundRow {
  readonly id: string;
  readonly locked_by: string | null;
  readonly is_candidate: boolean;
  readonly has_failed: boolean;
}

/** Only errors up to this size are read. The error of a recovery is usually smaller. */
const MAX_RECOVERED_BYTES = 1_500;

// The pattern matches the error of a job that was recovered at least twice in a row (lost-attempts.ts). Long errors are
// stored outside the rows of the table, but their lengths are in the rows. So the length is compared first, and long
// errors are not read.
const isCandidate = `(attempts >= 2 and (last_error is null and ${isUnchanged("jobs")}
      and (locked_at is not null or attempts < max_attempts)
      or pg_catalog.octet_length(last_error) <= ${MAX_RECOVERED_BYTES}::int
        and pg_catalog.left(last_error, 40) like 'Recovered % times in a row: %'))`;

const stepSql: Statement = (s) => `
  select id, ${lockHolder("jobs")} as locked_by, coalesce(${isCandidate}, false) as is_candidate,
    ${isFailed("jobs")} as has_failed
  from ${s}._private_jobs as jobs
  where ctid >= $1::tid and ctid < $2::tid and (locked_at is not null or ${isCandidate})
  limit $3::int`;

interface JobRow {
  readonly id: string;
  readonly task: string | null;
  readonly attempts: number;
  readonly max_attempts: number;
  readonly error_start: string | null;
  readonly is_locked: boolean;
  readonly has_failed: boolean;
  readonly is_unchanged: boolean;
  readonly run_at_us: string;
  readonly created_us: string;
  readonly updated_us: string;
  readonly locked_by: string | null;
  readonly payload: string | null;
}

const MAX_PAYLOAD_BYTES = 2_048;
const MAX_ERROR_LENGTH = 400;

const jobsSql: Statement = (s) => `
  select jobs.id, tasks.identifier as task, jobs.attempts, jobs.max_attempts,
    pg_catalog.left(jobs.last_error, ${MAX_ERROR_LENGTH}::int) as error_start, jobs.locked_at is not null as is_locked,
    ${isFailed("jobs")} as has_failed, ${isUnchanged("jobs")} as is_unchanged,
    ${microseconds("jobs.run_at")} as run_at_us, ${microseconds("jobs.created_at")} as created_us,
    ${microseconds("jobs.updated_at")} as updated_us, ${lockHolder("jobs")} as locked_by,
    (${ifSurelyAtMost("jobs.payload", MAX_PAYLOAD_BYTES)})::text as payload
  from ${s}._private_jobs as jobs
  left join ${s}._private_tasks as tasks on tasks.id = jobs.task_id
  where jobs.id = any($1::bigint[])
  order by jobs.id`;
