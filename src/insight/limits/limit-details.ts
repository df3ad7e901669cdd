// Reads the details of one limit: the permits of each worker under the limit, and the back-offs of the last hour.
import { type Database, query, type Statement } from "../../database/database.ts";
import { isNameSize, MAX_REASON_LENGTH, startOfText } from "../../database/unpacked.ts";
import { likePattern } from "../../domain/limits/limit.ts";
import type { StoredLimit } from "../../queue/limits/limits.ts";
import { dateOf, microseconds } from "../../queue/sql/moments.ts";
import { isFor } from "./read-use.ts";

/** The permits of a worker under a limit of tasks. */
export interface WorkerPermits {
  readonly workerId: string;
  /** The number of jobs under the limit that the worker may run at once. */
  readonly permits: number;
  /** The number of jobs under the limit that the worker ran when it last exchanged permits. */
  readonly inUse: number;
  readonly wanted: number;
}

/** A back-off of a limit, or of a task or queue to which the limit applies. */
export interface BackOff {
  readonly scope: "limit" | "task" | "queue";
  readonly name: string;
  readonly beganAt: Date;
  readonly until: Date;
  readonly reason: string | null;
  readonly jobId: string | null;
  readonly task: string | null;
}

export interface LimitDetails {
  /** The permits of at most 1,000 workers, most permits first. A worker that has no permits now can be included. */
  readonly permits: readonly WorkerPermits[];
  /** At most 100 back-offs that began in the last hour, the latest first. */
  readonly backOffs: readonly BackOff[];
}

export async function readLimitDetails(
  db: Database,
  { id, definition }: StoredLimit,
): Promise<LimitDetails> {
  const permits = await query<PermitRow>(db, permitsSql, [id]);
  const { name, scope, match } = definition;
  const rows = await query<BackOffRow>(db, backOffsSql, [name, scope, likePattern(match)]);
  return {
    permits: permits.map((row) => ({
      workerId: row.worker_id,
      ...{ permits: row.permits, inUse: row.in_use, wanted: row.wanted },
    })),
    backOffs: rows
      .filter((row) => row.scope === "limit" || isFor(definition, row.name))
      .map(({ began_us, until_us, job_id, ...row }) => ({
        ...row,
        beganAt: dateOf(began_us),
        until: dateOf(until_us),
        jobId: job_id,
      })),
  };
}

interface PermitRow {
  readonly worker_id: string;
  readonly permits: number;
  readonly in_use: number;
  readonly wanted: number;
}

interface BackOffRow extends Pick<BackOff, "scope" | "name" | "reason" | "task"> {
  readonly began_us: string;
  readonly until_us: string;
  readonly job_id: string | null;
}

const permitsSql: Statement = (s) => `
select ${startOfText("worker_id", MAX_REASON_LENGTH)} as worker_id, permits, in_use, wanted from ${s}._private_limit_permits as p
where limit_id = $1::int and ${isNameSize("worker_id")} order by permits desc, p.worker_id limit 1000`;

const backOffsSql: Statement = (s) => `
select scope, ${startOfText("name")} as name, ${startOfText("reason", MAX_REASON_LENGTH)} as reason, ${startOfText("task")} as task, job_id::text, ${microseconds("began_at")}::text as began_us,
  ${microseconds("until")}::text as until_us
from ${s}._private_back_offs
where began_at > pg_catalog.now() - interval '1 hour' and (scope = 'limit' and name = $1::text
  or scope = $2::text and name like $3::text)
order by began_at desc limit 100`;
