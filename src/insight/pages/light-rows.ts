// Reads the jobs of a page of a list without payloads, and with only the first line of the last error.
import { type Database, query, type Statement } from "../../database/database.ts";
import { worstBytes } from "../../database/unpacked.ts";
import { type Condition, conditions } from "../../domain/condition.ts";
import type { JobState } from "../../domain/job.ts";
import type { Cancellation } from "../../queue/cancel/cancellations.ts";
import { pageNames } from "../../queue/sql/job-row.ts";
import { stateOf } from "../../queue/sql/job-state.ts";
import { isBlockedQueue } from "../../queue/sql/lock.ts";
import { microseconds, timeText } from "../../queue/sql/moments.ts";
import { beingCancelled, readCancellations } from "../controls/being-cancelled.ts";
import { listPauses, type Pause, pauseOf } from "../controls/list-pauses.ts";
import { conditionOf } from "../expressions/condition.ts";
import { failedAt } from "../expressions/failed-at.ts";
import type { Heartbeats } from "../expressions/heartbeats.ts";
import { heartbeatsOf } from "../expressions/heartbeats.ts";
import { MAX_PAGE_BYTES } from "./full-rows.ts";

/** A job in a list. Times are RFC 3339. */
export interface LightJob {
  readonly id: string;
  readonly taskIdentifier: string | null;
  readonly queueName: string | null;
  readonly priority: number;
  readonly runAt: string;
  readonly attempts: number;
  readonly maxAttempts: number;
  /** The first line of the job's last error, at most 300 characters. */
  readonly errorLine: string | null;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly key: string | null;
  readonly lockedAt: string | null;
  readonly lockedBy: string | null;
  readonly revision: number;
  readonly isAvailable: boolean;
  readonly state: JobState;
  readonly condition: Condition;
  /** Whether the job is neither locked nor failed, and its named queue, its task or the whole queue is paused. */
  readonly isPaused: boolean;
  /** When the job entered its condition, as far as the database shows this time. */
  readonly conditionSince: string;
  /** A text such as `being cancelled: deploy, by ana`; null: the job is not being cancelled. */
  readonly cancelling: string | null;
  /** The size of the payload as it is stored, possibly compressed, in bytes. */
  readonly payloadBytes: number;
  /** Whether the payload may be larger than MAX_PAGE_BYTES, so that a page of full jobs may leave the payload out. */
  readonly isPayloadTruncated: boolean;
}

interface LightRow {
  readonly id: string;
  readonly task_identifier: string | null;
  readonly queue_name: string | null;
  readonly priority: number;
  readonly run_at_us: string;
  readonly attempts: number;
  readonly max_attempts: number;
  readonly error_line: string | null;
  readonly created_at_us: string;
  readonly updated_at_us: string;
  readonly key: string | null;
  readonly locked_at_us: string | null;
  readonly locked_by: string | null;
  readonly revision: number;
  readonly is_available: boolean;
  readonly state: JobState;
  readonly condition: string;
  readonly since_us: string;
  readonly payload_bytes: number;
  /** The largest possible size of the payload after decompression, in bytes. */
  readonly worst_bytes: number;
}

/** Returns the jobs with these ids, in the order of `ids`. Deleted jobs are left out. */
export async function readLightRows(db: Database, ids: readonly string[]): Promise<LightJob[]> {
  const found = await query<LightRow>(db, rowsSql(await heartbeatsOf(db)), [ids]);
  const byId = new Map(found.map((row) => [row.id, row]));
  const pauses = found.some(isWaiting) ? await listPauses(db) : [];
  const locked = found.filter(({ locked_at_us: us }) => us !== null).map(({ id }) => id);
  const requests = await readCancellations(db, locked);
  return ids.flatMap((id) => {
    const row = byId.get(id);
    return row === undefined ? [] : [toLightJob(row, pauses, requests.get(id))];
  });
}

const firstLine = (text: string | null) => text?.split(/[\r\n]/, 1)[0] ?? null;

const isWaiting = ({ is_available, locked_at_us }: LightRow) =>
  is_available && locked_at_us === null;

function toLightJob(
  row: LightRow,
  pauses: readonly Pause[],
  request: Cancellation | undefined,
): LightJob {
  const pause = pauseOf(pauses, row.task_identifier, row.queue_name);
  return {
    id: row.id,
    taskIdentifier: row.task_identifier,
    queueName: row.queue_name,
    priority: row.priority,
    runAt: timeText(row.run_at_us),
    attempts: row.attempts,
    maxAttempts: row.max_attempts,
    errorLine: firstLine(row.error_line),
    createdAt: timeText(row.created_at_us),
    updatedAt: timeText(row.updated_at_us),
    key: row.key,
    lockedAt: row.locked_at_us === null ? null : timeText(row.locked_at_us),
    lockedBy: row.locked_by,
    revision: row.revision,
    isAvailable: row.is_available,
    state: row.state,
    condition: conditions.find((one) => one === row.condition) ?? "ready",
    isPaused: isWaiting(row) && pause !== undefined,
    conditionSince: timeText(row.since_us),
    cancelling: request === undefined ? null : beingCancelled(request),
    payloadBytes: row.payload_bytes,
    isPayloadTruncated: row.worst_bytes > MAX_PAGE_BYTES,
  };
}

// Without "offset 0", PostgreSQL would merge the subquery into the outer select, and compute each condition twice.
const rowsSql =
  (heartbeats: Heartbeats): Statement =>
  (schema) =>
    `
  select light.*, ${microseconds(`case light.condition
      when 'fetched' then light.locked_at
      when 'running' then light.locked_at
      when 'blocked' then greatest(light.run_at, nullif(light.queue_locked_at, 'infinity'))
      when 'ready' then greatest(light.run_at, light.created_at)
      when 'failed' then light.failed_at
      when 'retrying' then light.failed_at
      else light.updated_at
    end`)} as since_us
  from (
    select jobs.id, tasks.identifier as task_identifier, queues.queue_name, jobs.priority,
      ${microseconds("jobs.run_at")} as run_at_us, jobs.attempts, jobs.max_attempts,
      pg_catalog.left(jobs.last_error, 300) as error_line,
      ${microseconds("jobs.created_at")} as created_at_us,
      ${microseconds("jobs.updated_at")} as updated_at_us,
      jobs.key, ${microseconds("jobs.locked_at")} as locked_at_us,
      pg_catalog.left(jobs.locked_by, 300) as locked_by, jobs.revision, jobs.is_available,
      ${stateOf("jobs")} as state,
      ${conditionOf("jobs", heartbeats, { isQueueLocked: isBlockedQueue("queues") })} as condition,
      jobs.locked_at, jobs.run_at, jobs.created_at, jobs.updated_at, ${failedAt("jobs")} as failed_at,
      queues.locked_at as queue_locked_at,
      pg_catalog.pg_column_size(jobs.payload) as payload_bytes,
      (${worstBytes("jobs.payload")})::float8 as worst_bytes
    from ${schema}._private_jobs as jobs
    ${pageNames(schema)}
    where jobs.id = any($1::bigint[])
    offset 0
  ) as light`;
