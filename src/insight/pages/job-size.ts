// Reads the size of a job, and a payload of any size in pieces.
import { WorkerError } from "../../base/errors.ts";
import { type Database, query, type Statement } from "../../database/database.ts";

/** The size up to which a job is returned whole. */
export const MAX_WHOLE_BYTES = 16 * 1_048_576;

export interface JobSize {
  /** The approximate size of payload, error and flags. A value above MAX_WHOLE_BYTES may be far from the true size. */
  readonly bytes: number;
  readonly isWhole: boolean;
}

/**
 * Returns the size of a job; null if the job does not exist. `quickReads`: the database for decompression, with a short
 * timeout. After a timeout, the job counts as too large.
 */
export async function jobSize(
  db: Database,
  id: string,
  quickReads: Database = db,
): Promise<JobSize | null> {
  const [row] = await query<SizeRow>(db, storedSql, [id]);
  if (row === undefined) return null;
  const stored = row.payload_bytes + row.other_bytes;
  if (!row.is_packed || stored > MAX_WHOLE_BYTES) return sizeOf(stored);
  return sizeOf(row.other_bytes + (await unpackedBytes(quickReads, id)));
}

/** Whether the job exists. */
export async function isJob(db: Database, id: string): Promise<boolean> {
  return (await query(db, isJobSql, [id])).length > 0;
}

const sizeOf = (bytes: number): JobSize => ({ bytes, isWhole: bytes <= MAX_WHOLE_BYTES });

/** Returns 0 if the job no longer exists, and Infinity after a timeout. */
async function unpackedBytes(db: Database, id: string): Promise<number> {
  try {
    const [row] = await query<{ bytes: number }>(db, unpackedSql, [id]);
    return row?.bytes ?? 0;
  } catch (error) {
    if (error instanceof WorkerError && error.code === "database_timeout") return Infinity;
    throw error;
  }
}

interface SizeRow {
  readonly payload_bytes: number;
  readonly is_packed: boolean;
  readonly other_bytes: number;
}

const storedSql: Statement = (schema) => `
  select pg_catalog.pg_column_size(jobs.payload) as payload_bytes,
    pg_catalog.pg_column_compression(jobs.payload) is not null as is_packed,
    coalesce(pg_catalog.octet_length(jobs.last_error), 0) + coalesce(pg_catalog.pg_column_size(jobs.flags), 0)
      as other_bytes
  from ${schema}._private_jobs as jobs
  where jobs.id = $1::bigint`;

const isJobSql: Statement = (schema) => `
  select true as is_there from ${schema}._private_jobs as jobs where jobs.id = $1::bigint`;

const unpackedSql: Statement = (schema) => `
  select pg_catalog.octet_length(pg_catalog.json_send(jobs.payload)) as bytes
  from ${schema}._private_jobs as jobs
  where jobs.id = $1::bigint`;

/** Reads are large, because each statement decompresses the whole payload. */
const STATEMENT_BYTES = 8 * 1_048_576;
/** Pieces are small, because the driver copies a large value into ever larger buffers while the value arrives. */
const PIECE_BYTES = 1_048_576;

export interface PayloadPieces {
  readonly bytes: number;
  /** Yields the pieces. Throws `not_found` if the payload has changed or the job was deleted since `bytes` was read. */
  readonly pieces: () => AsyncGenerator<Buffer, void>;
}

/**
 * Returns the exact text of a payload in pieces; null if the job does not exist. Several statements read the text, so
 * that no snapshot stays open while a slow client receives the pieces.
 */
export async function payloadPieces(db: Database, id: string): Promise<PayloadPieces | null> {
  const [first] = await query<WholeRow>(db, wholeSql, [id]);
  if (first === undefined) return null;
  const { bytes, version, digest } = first;
  async function* pieces() {
    for (let from = 0; from < bytes; from += STATEMENT_BYTES) {
      const values = [id, from + 1, STATEMENT_BYTES, version, PIECE_BYTES];
      const rows = await query<PieceRow>(db, pieceSql, values);
      const [head] = rows;
      if (head === undefined || (head.digest !== null && head.digest !== digest)) {
        throw new WorkerError(
          "not_found",
          `the payload of job ${id} has changed, or the job was deleted`,
        );
      }
      // shift() removes each row from the array, so that the row's memory can be released.
      for (let row = rows.shift(); row !== undefined; row = rows.shift()) {
        yield Buffer.from(row.piece, "base64");
      }
    }
  }
  return { bytes, pieces };
}

interface WholeRow {
  readonly bytes: number;
  readonly version: string;
  readonly digest: string;
}

interface PieceRow {
  readonly piece: string;
  readonly digest: string | null;
}

// "offset 0" prevents decompressing the payload twice.
const wholeSql: Statement = (schema) => `
  select pg_catalog.octet_length(whole.payload) as bytes, whole.version, pg_catalog.md5(whole.payload) as digest
  from (
    select pg_catalog.json_send(jobs.payload) as payload, jobs.xmin::text as version
    from ${schema}._private_jobs as jobs
    where jobs.id = $1::bigint
    offset 0
  ) as whole`;

// A worker's lock, for example, changes xmin, but not the payload. So if xmin has changed, the digests of the payloads
// are compared. Pieces are sent in base64, because the text form of bytea depends on the session's settings.
const pieceSql: Statement = (schema) => `
  select pg_catalog.encode(pg_catalog.substring(part.bytes, place, $5::int), 'base64') as piece, part.digest
  from (
    select pg_catalog.substring(pg_catalog.json_send(jobs.payload), $2::int, $3::int) as bytes,
      case when jobs.xmin::text <> $4::text then pg_catalog.md5(pg_catalog.json_send(jobs.payload)) end as digest
    from ${schema}._private_jobs as jobs
    where jobs.id = $1::bigint
    offset 0
  ) as part
  cross join lateral pg_catalog.generate_series(1, pg_catalog.octet_length(part.bytes), $5::int) as place
  order by place`;
