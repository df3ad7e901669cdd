// Reads a rehearsal's boundary (model/operation.ts) and its samples: up to five of the matching jobs, without payloads.

import { type Database, parseIdArray, query, type Statement } from "../../../database/database.ts";
import type { Condition } from "../../../domain/condition.ts";
import { conditionOf } from "../../../insight/expressions/condition.ts";
import type { Heartbeats } from "../../../insight/expressions/heartbeats.ts";
import { heartbeatsOf } from "../../../insight/expressions/heartbeats.ts";
import type { JobQuery } from "../../../insight/query/job-query.ts";
import { jobNames } from "../../../queue/sql/job-row.ts";
import { stateOf } from "../../../queue/sql/job-state.ts";
import { isBlockedQueue } from "../../../queue/sql/lock.ts";
import { microseconds, timeText } from "../../../queue/sql/moments.ts";
import type { Boundary } from "../model/operation.ts";
import type { OperationTools } from "../model/operation-tools.ts";
import { readCandidates } from "./candidates.ts";

export interface SampleJob {
  readonly id: string;
  readonly taskIdentifier: string | null;
  readonly queueName: string | null;
  readonly state: string;
  readonly condition: Condition;
  readonly runAt: string;
  readonly priority: number;
  readonly attempts: number;
  readonly maxAttempts: number;
  readonly key: string | null;
  /** The first line of the error, at most 300 characters. */
  readonly errorLine: string | null;
}

/**
 * Returns the boundary, by which the operation recognises jobs that are added or changed after the rehearsal. A
 * transaction writes its start time into the `created_at` of the jobs that it adds and the `updated_at` of the jobs
 * that it changes. For a transaction that is open now, this time is earlier than the rehearsal. So the boundary
 * contains the start times of all open transactions. Without the privileges of pg_read_all_stats, the transactions of
 * other roles are missing.
 */
export async function readBoundary(db: Database): Promise<Boundary> {
  type Row = { max_id: string; now_us: string; open_us: string };
  const [row] = await query<Row>(db, boundarySql);
  return {
    maxId: row?.max_id ?? "0",
    before: timeText(row?.now_us ?? "0"),
    openSince: parseIdArray(row?.open_us).map(timeText),
  };
}

const boundarySql = (s: string) => `
  select (select coalesce(pg_catalog.max(id), 0) from ${s}._private_jobs) as max_id,
    ${microseconds("pg_catalog.now()")} as now_us,
    array(
      select ${microseconds("xact_start")}::bigint from pg_catalog.pg_stat_activity
      where datname = pg_catalog.current_database() and xact_start is not null and pid <> pg_catalog.pg_backend_pid()
    )::text as open_us`;

const MAX_SAMPLES = 5;
const FIRST_SPAN = 25_000;
const WANTED_MS = 50;

/** Returns up to five matching jobs with the lowest ids. After `walkMs` milliseconds no further ids are searched. */
export async function readSamples(
  { reads, monotonic }: Pick<OperationTools, "reads" | "monotonic">,
  jobs: JobQuery,
  maxId: string,
  walkMs: number,
): Promise<SampleJob[]> {
  const until = monotonic() + walkMs;
  const ids: string[] = [];
  const last = BigInt(maxId);
  let after = 0n;
  let span = FIRST_SPAN;
  while (after < last && !jobs.isEmpty && ids.length < MAX_SAMPLES && monotonic() <= until) {
    const began = monotonic();
    const end = after + BigInt(Math.round(span));
    const upto = String(end < last ? end : last);
    if (jobs.check === null) {
      const values = [String(after), upto, MAX_SAMPLES, ...jobs.values];
      const rows = await query<{ id: string }>(reads, idsSql(jobs), values);
      ids.push(...rows.map(({ id }) => id));
      after = BigInt(upto);
    } else {
      const candidates = await readCandidates(reads, jobs, String(after), upto);
      ids.push(...candidates.ids);
      after = BigInt(candidates.uptoId);
    }
    span *= Math.min(8, Math.max(1 / 8, WANTED_MS / Math.max(monotonic() - began, 1)));
  }
  const statement = samplesSql(await heartbeatsOf(reads));
  const rows = await query<SampleRow>(reads, statement, [ids.slice(0, MAX_SAMPLES)]);
  return rows.map(toSample);
}

const idsSql = (jobs: JobQuery) => (s: string) =>
  `
  select jobs.id
  from ${s}._private_jobs as jobs
  where jobs.id > $1::bigint and jobs.id <= $2::bigint
  and ${jobs.sql(4)}
  order by jobs.id
  limit $3::int`;

interface SampleRow {
  readonly id: string;
  readonly task_identifier: string | null;
  readonly queue_name: string | null;
  readonly state: string;
  readonly condition: Condition;
  readonly run_at_us: string;
  readonly priority: number;
  readonly attempts: number;
  readonly max_attempts: number;
  readonly key: string | null;
  readonly error: string | null;
}

const samplesSql =
  (heartbeats: Heartbeats): Statement =>
  (s) =>
    `
  select jobs.id, tasks.identifier as task_identifier, queues.queue_name,
    ${stateOf("jobs")} as state, ${microseconds("jobs.run_at")} as run_at_us,
    ${conditionOf("jobs", heartbeats, { isQueueLocked: isBlockedQueue("queues") })} as condition,
    jobs.priority, jobs.attempts, jobs.max_attempts, jobs.key,
    pg_catalog.left(jobs.last_error, 300) as error
  from ${s}._private_jobs as jobs
  ${jobNames(s)}
  where jobs.id = any($1::bigint[])
  order by jobs.id`;

const toSample = (row: SampleRow): SampleJob => ({
  id: row.id,
  taskIdentifier: row.task_identifier,
  queueName: row.queue_name,
  state: row.state,
  condition: row.condition,
  runAt: timeText(row.run_at_us),
  priority: row.priority,
  attempts: row.attempts,
  maxAttempts: row.max_attempts,
  key: row.key,
  errorLine: row.error?.split(/\r?\n/, 1)[0] ?? null,
});
