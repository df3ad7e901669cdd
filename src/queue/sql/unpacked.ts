// The size of values after decompression. The size on disk can be read without cost, but repetitive text decompresses
// to 90 times as much, with lz4 to 255 times. Only decompression shows the real size, and it takes 9 ms for each
// megabyte. So compressed values are read separately, in batches, until a budget is spent.
import { type Database, query, type Statement } from "../../database/database.ts";

/** The maximum number of decompressed bytes in one read. */
const MAX_UNPACKED = 16 * 1_048_576;
/** The worst case in bytes of one statement of a read. */
const BATCH = 4 * 1_048_576;
/** The share of the worst case that a batch is expected to reach at least. */
const MIN_SHARE = 1 / 64;

/** Returns a condition: the value is compressed in the table. */
export const isPacked = (value: string): string =>
  `pg_catalog.pg_column_compression(${value}) is not null`;

/**
 * Returns a condition: the value has at most `bytes` bytes. It decompresses only values that are stored in at most as
 * many bytes.
 */
export const isAtMost = (value: string, bytes: number): string =>
  `case when pg_catalog.pg_column_size(${value}) > ${bytes}::int then false
      when ${isPacked(value)} then pg_catalog.octet_length(${value}::text) <= ${bytes}::int
      else true end`;

/** Returns an expression: the size of a value after decompression in the worst case. */
export const worstBytes = (value: string): string =>
  `pg_catalog.pg_column_size(${value})::bigint * case pg_catalog.pg_column_compression(${value})
      when 'lz4' then 255 when 'pglz' then 90 else 1 end`;

/**
 * Returns an expression: the value if it certainly has at most `bytes` bytes; null if it has more, or only
 * decompression could show it.
 */
export const ifSurelyAtMost = (value: string, bytes: number): string =>
  `case when ${worstBytes(value)} <= ${bytes} then ${value} end`;

/** Returns an expression: the first `length` characters of a text. No more of it is decompressed. */
export const beginning = (text: string, length = MAX_NAME_LENGTH): string =>
  `pg_catalog.left(${text}, ${length})`;
/** Names of tasks and queues have at most 128 characters; longer texts in these tables are not from this program. */
const MAX_NAME_LENGTH = 512;
/** The length of reasons that are read. */
export const MAX_REASON_LENGTH = 2_000;

/** The length of ids that are read. A longer id is not a worker's: the library allows 1,024 characters. */
const MAX_WORKER_ID_LENGTH = 4_096;
export const MAX_WORKERS = 10_000;

/**
 * Returns the heartbeat rows for a statement that reads the reports of many workers, to be named `workers`. They are
 * the 10,000 rows with the latest heartbeats that match `which`. The shortest reports, 16 MB in total, are in
 * `metadata`; the other rows have null there, and `is_cut`. A report that is not an object is ignored. `report_bytes`:
 * the running sum of their sizes.
 *
 * This library's table never compresses reports, so their size on disk is their size. A compressed report, as in
 * another library's table, counts with its worst case. Each expression on a stored report would read all of it again;
 * `||` turns it into a value in memory.
 */
export const reportedWorkers = (s: string, which = "true"): string => `(
    select summed.id, summed.last_heartbeat_at, summed.started_at, summed.report_bytes,
      summed.report_bytes > ${MAX_UNPACKED}::bigint as is_cut,
      case when summed.report_bytes <= ${MAX_UNPACKED}::bigint and pg_catalog.jsonb_typeof(summed.metadata) = 'object'
        then summed.metadata || '{}'::jsonb end as metadata
    from (
      select latest.*,
        pg_catalog.sum(latest.bytes) over (order by latest.bytes, latest.id rows unbounded preceding)::bigint as report_bytes
      from (
        select workers.id, workers.last_heartbeat_at, workers.started_at, workers.metadata,
          coalesce(${worstBytes("workers.metadata")}, 0) as bytes
        from ${s}._private_workers as workers
        where pg_catalog.octet_length(workers.id) <= ${MAX_WORKER_ID_LENGTH}::int and ${which}
        order by workers.last_heartbeat_at desc limit ${MAX_WORKERS}
      ) as latest
    ) as summed
  )`;

/** Returns a condition: a single value certainly has at most the limit, so that it may be decompressed. */
export const isUnpackable = (value: string): string =>
  `coalesce(${worstBytes(value)}, 0) <= ${MAX_UNPACKED}::bigint`;

/** The size at which a page of whole rows ends, after the row that reaches it. */
export const PAGE_BYTES = 4 * 1_048_576;

/** Whether this row reaches that size, so that it is the last of its page. */
export const endsPage = ({ page_bytes: bytes }: { readonly page_bytes: string }): boolean =>
  Number(bytes) >= PAGE_BYTES;

/**
 * Returns expressions for `with recursive …`: the newest rows of a table by their ids, before $1 bigint (null: the
 * first), at most $2 int. They are decompressed one after the other, until they have 4 MB in total. Their columns are
 * `row.id` and the sum so far, `row.page_bytes`.
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
 * Returns the payload column of a row, and the columns with which loadPacked() loads what is missing. `bytes`: a
 * parameter or number.
 */
export const packable = (bytes: string): string => `
      case when pg_catalog.pg_column_size(jobs.payload) <= ${bytes}::int and not (${isPacked("jobs.payload")})
        then jobs.payload end as payload,
      case when ${isPacked("jobs.payload")} and pg_catalog.pg_column_size(jobs.payload) <= ${bytes}::int
        then (${worstBytes("jobs.payload")})::float8 end as packed_bytes,
      jobs.ctid::text as place_in_table`;

export interface PackableRow {
  readonly id: string;
  /** The payload; null if it is compressed or too large. */
  payload: string | null;
  /** The size in the worst case; null if it is not compressed, or its size on disk is already too large. */
  readonly packed_bytes: number | null;
  readonly place_in_table: string;
}

/**
 * Fills in the compressed payloads of at most `largest` bytes, in the order of the rows, until 16 MB have been
 * decompressed. Returns how many rows were reached: the compressed payloads of later rows were not read.
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

/** Returns the compressed rows from `at` on, at least one, that are expected to fit into a batch. */
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

/** Fills in the payloads of a batch. Returns how many bytes were decompressed. */
async function load(db: Database, batch: readonly PackableRow[], largest: number): Promise<number> {
  const byId = new Map(batch.map((row) => [row.id, row]));
  const places = batch.map(({ place_in_table }) => place_in_table);
  const found = await query<LoadedRow>(db, loadSql, [places, [...byId.keys()], largest]);
  let bytes = 0;
  for (const one of found) {
    bytes += one.bytes;
    const row = byId.get(one.id);
    if (row !== undefined) row.payload = one.payload;
  }
  return bytes;
}

interface LoadedRow {
  readonly id: string;
  readonly bytes: number;
  readonly payload: string | null;
}

// The row is found by its place (ctid), so that it is the same version of the row as the other columns.
const loadSql: Statement = (s) => `
  select job.id, pg_catalog.octet_length(job.payload) as bytes,
    case when pg_catalog.octet_length(job.payload) <= $3::int then job.payload end as payload
  from (
    select jobs.id, jobs.payload::text as payload
    from ${s}._private_jobs as jobs
    where jobs.ctid = any($1::tid[]) and jobs.id = any($2::bigint[])
    offset 0
  ) as job`;
