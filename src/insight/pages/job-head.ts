// Reads one job for the job's page. Large payloads and flags are left out, and a long error is cut.

import { type Database, query, type Statement } from "../../database/database.ts";
import { ifSurelyAtMost, isPacked } from "../../database/unpacked.ts";
import type { Job } from "../../domain/job.ts";
import { checkedJobId } from "../../domain/job-ids.ts";
import { type JobRow, jobColumnsWith, jobNames, toJob } from "../../queue/sql/job-row.ts";
import { lockHolder } from "../../queue/sql/lock.ts";

/** The maximum sizes of an included payload, in bytes: as stored, and at worst after decompression. */
const SMALL_BYTES = 16_384;
const SMALL_WORST_BYTES = 393_216;
/** The maximum size of flags after decompression, in bytes. */
const MAX_FLAGS_BYTES = 4 * 1_048_576;
/** The maximum number of an error's characters. */
const SHOWN_ERROR = 262_144;

export interface JobHead {
  /** The job. If `isPayloadCut` is true, the payload here is `null`. */
  readonly job: Job;
  readonly isPayloadCut: boolean;
  /** The size of the payload as it is stored, in bytes. */
  readonly payloadBytes: number;
  /** Whether the stored payload is compressed: its real size is larger. */
  readonly isPayloadPacked: boolean;
  /** The first characters of the payload; null if not requested. */
  readonly payloadStart: string | null;
  readonly isErrorCut: boolean;
}

interface HeadRow extends Omit<JobRow, "payload"> {
  readonly payload: string | null;
  readonly payload_bytes: number;
  readonly is_packed: boolean;
  readonly payload_start: string | null;
  readonly is_error_cut: boolean;
}

/** Returns the job; null if there is none. `start`: how many of the payload's first characters to read; 0: none. */
export async function readJobHead(
  db: Database,
  id: string,
  start: number,
): Promise<JobHead | null> {
  const [row] = await query<HeadRow>(db, headSql, [checkedJobId(id), start]);
  if (row === undefined) return null;
  return {
    job: toJob({ ...row, payload: row.payload ?? "null" }),
    isPayloadCut: row.payload === null,
    payloadBytes: row.payload_bytes,
    isPayloadPacked: row.is_packed,
    payloadStart: row.payload_start,
    isErrorCut: row.is_error_cut,
  };
}

// Decompression is slow, so a payload that is left out is decompressed only if its first characters are requested.
const headSql: Statement = (schema) => `
  select ${jobColumnsWith({
    payload: `case when pg_catalog.pg_column_size(jobs.payload) <= ${SMALL_BYTES}
      then ${ifSurelyAtMost("jobs.payload", SMALL_WORST_BYTES)} end`,
    lastError: `pg_catalog.left(jobs.last_error, ${SHOWN_ERROR})`,
    lockedBy: lockHolder("jobs"),
    flags: ifSurelyAtMost("jobs.flags", MAX_FLAGS_BYTES),
  })},
    pg_catalog.pg_column_size(jobs.payload) as payload_bytes,
    ${isPacked("jobs.payload")} as is_packed,
    case when $2::int > 0 then pg_catalog.left(jobs.payload::text, $2::int) end as payload_start,
    coalesce(pg_catalog.octet_length(jobs.last_error) > ${SHOWN_ERROR}
      and pg_catalog.length(jobs.last_error) > ${SHOWN_ERROR}, false) as is_error_cut
  from ${schema}._private_jobs as jobs
  ${jobNames(schema)}
  where jobs.id = $1::bigint`;
