// Reads the size of one job, to decide whether it is too large for one response. A compressed payload is decompressed
// for that, unless the job is too large as it is stored. A payload of any size can be read in pieces.
import { WorkerError } from "../../base/errors.ts";
import { type Database, query, type Statement } from "../../database/database.ts";

/** The size up to which a job is returned whole. */
export const MAX_WHOLE_BYTES = 16 * 1_048_576;

export interface JobSize {
  /** Payload and error in UTF-8, and flags as stored, in bytes. Above MAX_WHOLE_BYTES the number is not exact. */
  readonly bytes: number;
  readonly isWhole: boolean;
}

/**
 * Returns the size of a job; null if it does not exist. `quickReads`: the database that decompresses the payload. If
 * this takes longer than its timeout, the job counts as too large.
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

/** Whether the job exists. Unlike jobSize(), this does not decompress its payload. */
export async function isJob(db: Database, id: string): Promise<boolean> {
  return (await query(db, isJobSql, [id])).length > 0;
}

const sizeOf = (bytes: number): JobSize => ({ bytes, isWhole: bytes <= MAX_WHOLE_BYTES });

/** Returns the payload's size, for which PostgreSQL decompresses it; Infinity after a timeout. */
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

/**
 * The bytes that one statement reads. Each statement decompresses the whole payload in PostgreSQL, so a few large reads
 * cost less than many small ones.
 */
const STATEMENT_BYTES = 8 * 1_048_576;
/** The size of a piece, in bytes. Of a large value, the driver would join the parts anew whenever a part arrives. */
const PIECE_BYTES = 1_048_576;

export interface PayloadPieces {
  readonly bytes: number;
  /**
   * Yields the pieces. Throws if the payload changes or the job is deleted meanwhile, because a mixture would be
   * invalid.
   */
  readonly pieces: () => AsyncGenerator<Buffer, void>;
}

/**
 * Returns the payload's size and its text, byte for byte; null if the job does not exist. Each statement reads 8 MB, so
 * that a slow client keeps no snapshot open.
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
      // shift() releases each row before it is yielded.
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

// A worker that locks or unlocks the job writes its row again with the same payload. So if the row's version (xmin) has
// changed, the digest of the payload is compared. The text is in base64, because session settings affect bytea.
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
