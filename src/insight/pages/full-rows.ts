// Reads the jobs of a page with their payloads, as many jobs as fit into 8 MB. A job that is larger than 8 MB is listed
// without its payload.
import { codeOf, WorkerError } from "../../base/errors.ts";
import { type Database, query, type Statement } from "../../database/database.ts";
import { ifSurelyAtMost, isPacked, worstBytes } from "../../database/unpacked.ts";
import { type Job, listedJobJson } from "../../domain/job.ts";
import { type JobRow, jobColumnsWith, pageNames, toJob } from "../../queue/sql/job-row.ts";
import type { JobPage } from "./job-page.ts";

export const MAX_PAGE_BYTES = 8 * 1_048_576;
/** One statement reads all jobs with the payloads and errors up to this size. Larger ones are read later. */
const SMALL_BYTES = 16_384;
/** Flags that may be larger are left out, because one statement reads the flags of hundreds of jobs. */
const MAX_FLAGS_BYTES = 65_536;
/** An error that is too large for a page is cut to this many characters. */
const SHOWN_ERROR = 65_536;

export interface FullRows {
  readonly jobs: Job[];
  /** The jobs that are shown without their payload. */
  readonly truncated: JobPage["truncated"];
}

interface FullRow extends Omit<JobRow, "payload"> {
  payload: string | null;
  last_error: string | null;
  readonly payload_bytes: number;
  /** The size of the payload after decompression in the worst case. */
  readonly worst_bytes: number;
  readonly error_bytes: number;
  readonly is_large: boolean;
}

/** Returns the jobs with these ids, in the order of the ids. Deleted jobs are left out. Stops when the page is full. */
export async function readFullRows(db: Database, ids: readonly string[]): Promise<FullRows> {
  const rows = await inOrder(db, ids);
  const jobs: Job[] = [];
  const truncated: JobPage["truncated"][number][] = [];
  let bytes = 0;
  for (const [at, row] of rows.entries()) {
    const left = MAX_PAGE_BYTES - bytes;
    if (row.is_large && row.payload === null) await load(db, rows, at);
    if (row.payload === null) await loadError(db, row);
    const { payload } = row;
    const job = toJob({ ...row, payload: payload ?? "null" });
    const size = bytesOf(job);
    const isAlone = payload === null || size > MAX_PAGE_BYTES;
    const shown = isAlone ? withoutPayload(row) : job;
    const shownBytes = isAlone ? bytesOf(shown) : size;
    if (shownBytes > left && jobs.length > 0) break;
    if (isAlone) {
      const isErrorTruncated = shown.lastError?.length !== job.lastError?.length;
      truncated.push({
        id: row.id,
        payloadBytes: row.payload_bytes,
        isErrorTruncated: isErrorTruncated || row.error_bytes > MAX_PAGE_BYTES,
      });
    }
    jobs.push(shown);
    bytes += shownBytes;
  }
  return { jobs, truncated };
}

function bytesOf(job: Job): number {
  // The payload is measured separately, so that JSON with a large payload is assembled only for the response.
  const rest = Buffer.byteLength(listedJobJson(job, { payload: "" }));
  return rest + Buffer.byteLength(job.payloadText) + 1;
}

function withoutPayload(row: FullRow): Job {
  const job = toJob({ ...row, payload: "null" });
  if (bytesOf(job) <= MAX_PAGE_BYTES) return job;
  const error = row.last_error?.slice(0, SHOWN_ERROR) ?? null;
  return toJob({ ...row, payload: "null", last_error: error });
}

async function inOrder(db: Database, ids: readonly string[]): Promise<FullRow[]> {
  const found = await query<FullRow>(db, rowsSql, [ids]);
  const byId = new Map(found.map((row) => [row.id, row]));
  return ids.flatMap((id) => byId.get(id) ?? []);
}

/**
 * Reads the payload and the error of the row at index `at`, unless the payload is too large for a page. Also reads as
 * many of the next large rows as certainly fit into the same page.
 */
async function load(db: Database, rows: readonly FullRow[], at: number): Promise<void> {
  const group: FullRow[] = [];
  let weight = 0;
  for (const row of rows.slice(at)) {
    if (!row.is_large || row.payload !== null) continue;
    // This is the stored size. After decompression, the payload is not smaller.
    if (row.payload_bytes > MAX_PAGE_BYTES) {
      if (group.length === 0) return;
      break;
    }
    weight += row.worst_bytes + row.error_bytes;
    if (group.length > 0 && weight > MAX_PAGE_BYTES) break;
    group.push(row);
  }
  const [first] = group;
  if (first === undefined) return;
  if (group.length === 1 && weight > MAX_PAGE_BYTES && !(await fits(db, first))) return;
  const byId = new Map(group.map((row) => [row.id, row]));
  const values = [[...byId.keys()], MAX_PAGE_BYTES, SHOWN_ERROR];
  for (const { id, payload, last_error } of await query<LoadedRow>(db, loadSql, values)) {
    Object.assign(byId.get(id) ?? {}, { payload, last_error });
  }
}

async function loadError(db: Database, row: FullRow): Promise<void> {
  if (row.error_bytes === 0) return;
  const values = [row.id, MAX_PAGE_BYTES, SHOWN_ERROR];
  const [loaded] = await query<Pick<LoadedRow, "last_error">>(db, errorSql, values);
  row.last_error = loaded?.last_error ?? null;
}

/** Whether a payload fits into a page. PostgreSQL decompresses the payload. */
async function fits(db: Database, { id }: FullRow): Promise<boolean> {
  try {
    const [row] = await query<{ bytes: number }>(db, unpackedSql, [id]);
    return (row?.bytes ?? 0) <= MAX_PAGE_BYTES;
  } catch (error) {
    // A payload that takes this long to decompress is too large for a page.
    if (error instanceof WorkerError && codeOf(error) === "database_timeout") return false;
    throw error;
  }
}

interface LoadedRow {
  readonly id: string;
  readonly payload: string;
  readonly last_error: string | null;
}

// A compressed payload never counts as small, because only decompression, which is not cheap, shows its full size.
const isSmall = `pg_catalog.pg_column_size(jobs.payload) <= ${SMALL_BYTES}
    and not (${isPacked("jobs.payload")})
    and coalesce(pg_catalog.octet_length(jobs.last_error), 0) <= ${SMALL_BYTES}`;

const rowsSql: Statement = (schema) => `
  select ${jobColumnsWith({
    payload: `case when ${isSmall} then jobs.payload end`,
    lastError: `case when ${isSmall} then jobs.last_error end`,
    lockedBy: "pg_catalog.left(jobs.locked_by, 1000)",
    flags: ifSurelyAtMost("jobs.flags", MAX_FLAGS_BYTES),
  })},
    pg_catalog.pg_column_size(jobs.payload) as payload_bytes,
    (${worstBytes("jobs.payload")})::float8 as worst_bytes,
    coalesce(pg_catalog.octet_length(jobs.last_error), 0) as error_bytes,
    (${isSmall}) is not true as is_large
  from ${schema}._private_jobs as jobs
  ${pageNames(schema)}
  where jobs.id = any($1::bigint[])`;

const errorUpTo = (bytes: string, characters: string) =>
  `case when pg_catalog.octet_length(jobs.last_error) <= ${bytes}::int then jobs.last_error
      else pg_catalog.left(jobs.last_error, ${characters}::int) end as last_error`;

const errorSql: Statement = (schema) => `
  select ${errorUpTo("$2", "$3")}
  from ${schema}._private_jobs as jobs
  where jobs.id = $1::bigint`;

const loadSql: Statement = (schema) => `
  select jobs.id, jobs.payload, ${errorUpTo("$2", "$3")}
  from ${schema}._private_jobs as jobs
  where jobs.id = any($1::bigint[])`;

const unpackedSql: Statement = (schema) => `
  select pg_catalog.octet_length(pg_catalog.json_send(jobs.payload)) as bytes
  from ${schema}._private_jobs as jobs
  where jobs.id = $1::bigint`;
