// Reads values of any size, such as payloads, and limits how many bytes one read decompresses. database/unpacked.ts has
// the reason for the limits.
import { type Database, query, type Statement } from "../../database/database.ts";
import { isPacked, worstBytes } from "../../database/unpacked.ts";

/** The maximum number of bytes that one read decompresses. The last batch of loadPacked() may exceed this number. */
export const MAX_UNPACKED = 16 * 1_048_576;
/** The maximum expected size of a batch with several values, decompressed, in bytes. */
const BATCH = 4 * 1_048_576;
/**
 * The expected size of a batch is its largest possible size, multiplied by a share. The share depends on the real size
 * of the previous batch, and is at least MIN_SHARE.
 */
const MIN_SHARE = 1 / 64;

/** Returns a condition: the value certainly has at most MAX_UNPACKED bytes after decompression, or is null. */
export const isUnpackable = (value: string): string =>
  `coalesce(${worstBytes(value)}, 0) <= ${MAX_UNPACKED}::bigint`;

/** A page of whole rows ends with the row that brings the page to this size, in bytes. */
export const PAGE_BYTES = 4 * 1_048_576;

/** Whether the page ends with this row. */
export const endsPage = ({ page_bytes: bytes }: { readonly page_bytes: string }): boolean =>
  Number(bytes) >= PAGE_BYTES;

/**
 * Returns a query `page` for `with recursive`: the ids of the newest rows of `table` that match `which`. A row with
 * `row_number` 0, which is not a row of the table, comes first. $1 bigint: only lower ids are read (null: all). $2 int:
 * the maximum number of rows. `bytes`: SQL for the size of a row `stored`.
 */
export const newestRows = (table: string, bytes: string, which = "true"): string => `page as (
    select 0 as row_number, 0::bigint as page_bytes, coalesce($1::bigint, 9223372036854775807::bigint) as id
    union all
    select page.row_number + 1, page.page_bytes + next.bytes, next.id
    from page, lateral (
      select stored.id, (${bytes})::bigint as bytes from ${table} as stored
      where stored.id < page.id and ${which}
      order by stored.id desc limit 1
    ) as next
    where page.row_number < $2::int and page.page_bytes < ${PAGE_BYTES}::bigint
  )`;

/**
 * Returns the select items of a PackableRow, except `id`, for a row `jobs`. Compressed payloads are not selected:
 * loadPacked() loads them. A payload whose stored size exceeds `bytes` (a parameter or a number) is neither selected
 * nor loaded.
 */
export const packable = (bytes: string): string => `
      case when pg_catalog.pg_column_size(jobs.payload) <= ${bytes}::int and not (${isPacked("jobs.payload")})
        then jobs.payload end as payload,
      case when ${isPacked("jobs.payload")} and pg_catalog.pg_column_size(jobs.payload) <= ${bytes}::int
        then (${worstBytes("jobs.payload")})::float8 end as packed_bytes,
      jobs.ctid::text as place_in_table`;

export interface PackableRow {
  readonly id: string;
  /** null: the payload is too large, or is compressed and not loaded by loadPacked(). */
  payload: string | null;
  /** The most bytes that a compressed payload can have; null for a payload that is not compressed or is too large. */
  readonly packed_bytes: number | null;
  readonly place_in_table: string;
}

/**
 * Reads the compressed payloads in the order of the rows, until 16 MB have been decompressed. Sets `payload` in a row
 * if the payload has at most `largest` bytes as text. Returns the number of rows that were reached.
 */
export async function loadPacked(
  db: Database,
  rows: readonly PackableRow[],
  largest: number,
): Promise<number> {
  let unpacked = 0;
  let share = 1;
  for (let at = 0; at < rows.length; ) {
    if (unpacked >= MAX_UNPACKED) return at;
    const { batch, next, worst } = nextBatch(rows, at, share);
    at = next;
    if (batch.length === 0) continue;
    const bytes = await load(db, batch, largest);
    unpacked += bytes;
    share = Math.min(1, Math.max(MIN_SHARE, (2 * bytes) / worst));
  }
  return rows.length;
}

function nextBatch(rows: readonly PackableRow[], at: number, share: number) {
  const batch: PackableRow[] = [];
  let worst = 0;
  let next = at;
  for (; next < rows.length; next++) {
    const row = rows[next];
    if (row === undefined || row.packed_bytes === null) continue;
    if (batch.length > 0 && (worst + row.packed_bytes) * share > BATCH) break;
    worst += row.packed_bytes;
    batch.push(row);
  }
  return { batch, next, worst };
}

/** Sets the payloads of a batch. Returns how many bytes were decompressed. */
async function load(db: Database, batch: readonly PackableRow[], largest: number): Promise<number> {
  const byId = new Map(batch.map((row) => [row.id, row]));
  const places = batch.map(({ place_in_table }) => place_in_table);
  const found = await query<LoadedRow>(db, loadSql, [places, [...byId.keys()], largest]);
  let bytes = 0;
  for (const loaded of found) {
    bytes += loaded.bytes;
    const row = byId.get(loaded.id);
    if (row !== undefined) row.payload = loaded.payload;
  }
  return bytes;
}

interface LoadedRow {
  readonly id: string;
  readonly bytes: number;
  readonly payload: string | null;
}

// A row is found by its place (ctid), so the payload is of the row version from which the other columns were read.
const loadSql: Statement = (s) => `
  select job.id, pg_catalog.octet_length(job.payload) as bytes,
    case when pg_catalog.octet_length(job.payload) <= $3::int then job.payload end as payload
  from (
    select jobs.id, jobs.payload::text as payload
    from ${s}._private_jobs as jobs
    where jobs.ctid = any($1::tid[]) and jobs.id = any($2::bigint[])
    offset 0
  ) as job`;
