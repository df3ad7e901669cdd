// How large a value is once it is unpacked. Its size on disk costs nothing to ask, but text that repeats
// itself unpacks to 90 times as much, with lz4 to 255 times. The only way to know is to unpack it, which
// takes 9 ms a megabyte: so what is packed is read by itself, in batches, until a budget is spent.
import { type Database, query, type Statement } from "../../database/database.ts";

/** What one answer unpacks. */
const MOST_UNPACKED = 16 * 1_048_576;
/** What one of its statements unpacks at the worst. */
const BATCH = 4 * 1_048_576;
/** Of the worst, what is expected of a batch at least. */
const LEAST_SHARE = 1 / 64;

/** Whether it is larger than it is in the table. */
export const isPacked = (value: string): string =>
  `pg_catalog.pg_column_compression(${value}) is not null`;

/** The condition that a value is at most so long. It unpacks what is stored in as much, and nothing larger. */
export const isAtMost = (value: string, bytes: number): string =>
  `case when pg_catalog.pg_column_size(${value}) > ${bytes}::int then false
      when ${isPacked(value)} then pg_catalog.octet_length(${value}::text) <= ${bytes}::int
      else true end`;

/** How long a value is unpacked at the worst. */
export const worstBytes = (value: string): string =>
  `pg_catalog.pg_column_size(${value})::bigint * case pg_catalog.pg_column_compression(${value})
      when 'lz4' then 255 when 'pglz' then 90 else 1 end`;

/** The value if it is certainly not larger; null also where that is known only after unpacking. */
export const ifSurelyAtMost = (value: string, bytes: number): string =>
  `case when ${worstBytes(value)} <= ${bytes} then ${value} end`;

/** Longer ids are of no worker: the library takes 1,024 characters. */
const LONGEST_WORKER_ID = 4_096;
export const MOST_WORKERS = 10_000;

/**
 * The heartbeat rows for a statement that reads what many workers report; to be called `workers`. They are
 * the 10,000 with the latest heartbeats, of those with the condition `which`. The shortest reports, 16 MB
 * together, are in `metadata`; the other rows have null there, and `is_cut`. A report that is no object
 * is none. `report_bytes`: the running sum.
 *
 * Our table never packs a report, so its size on disk is its size. A report that is packed all the same, as
 * in a table of another make, counts with its worst size. Each expression on a stored report would fetch
 * all of it again: `||` makes it a value in memory.
 */
export const reportedWorkers = (s: string, which = "true"): string => `(
    select summed.id, summed.last_heartbeat_at, summed.started_at, summed.report_bytes,
      summed.report_bytes > ${MOST_UNPACKED}::bigint as is_cut,
      case when summed.report_bytes <= ${MOST_UNPACKED}::bigint and pg_catalog.jsonb_typeof(summed.metadata) = 'object'
        then summed.metadata || '{}'::jsonb end as metadata
    from (
      select latest.*,
        pg_catalog.sum(latest.bytes) over (order by latest.bytes, latest.id rows unbounded preceding)::bigint as report_bytes
      from (
        select workers.id, workers.last_heartbeat_at, workers.started_at, workers.metadata,
          coalesce(${worstBytes("workers.metadata")}, 0) as bytes
        from ${s}._private_workers as workers
        where pg_catalog.octet_length(workers.id) <= ${LONGEST_WORKER_ID}::int and ${which}
        order by workers.last_heartbeat_at desc limit ${MOST_WORKERS}
      ) as latest
    ) as summed
  )`;

/** Of one value: what may be larger is not unpacked. */
export const isUnpackable = (value: string): string =>
  `coalesce(${worstBytes(value)}, 0) <= ${MOST_UNPACKED}::bigint`;

/** A page of whole rows ends behind the one with which it has so many bytes. */
const MOST_OF_A_PAGE = 4 * 1_048_576;

/** The last row of such a page, where the number of rows has not ended it. */
export const endsPage = ({ page_bytes: bytes }: { readonly page_bytes: string }): boolean =>
  Number(bytes) >= MOST_OF_A_PAGE;

/**
 * As `with recursive …`: the newest rows of a table, by their ids, before $1 bigint (null: the first), at most
 * $2 int. Each is unpacked in its turn until they have 4 MB together. `row.id` and the sum, `row.page_bytes`.
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
    where page.row_number < $2::int and page.page_bytes < ${MOST_OF_A_PAGE}::bigint
  )`;

/** What a row brings, and what loadPacked() needs to bring the rest. `bytes`: a parameter or number. */
export const packable = (bytes: string): string => `
      case when pg_catalog.pg_column_size(jobs.payload) <= ${bytes}::int and not (${isPacked("jobs.payload")})
        then jobs.payload end as payload,
      case when ${isPacked("jobs.payload")} and pg_catalog.pg_column_size(jobs.payload) <= ${bytes}::int
        then (${worstBytes("jobs.payload")})::float8 end as packed_bytes,
      jobs.ctid::text as place_in_table`;

export interface PackableRow {
  readonly id: string;
  /** null where it is packed, or too large. */
  payload: string | null;
  /** How large it is at the worst; null where it is not packed, or its size on disk is too large already. */
  readonly packed_bytes: number | null;
  readonly place_in_table: string;
}

/**
 * Fills in the payloads that are packed and at most `largest` long, in the rows' order, until 16 MB have
 * been unpacked. Returns how many rows were reached: of those behind, none was looked at that is packed.
 */
export async function loadPacked(
  db: Database,
  rows: readonly PackableRow[],
  largest: number,
): Promise<number> {
  let unpacked = 0;
  let share = 1;
  for (let at = 0; at < rows.length; ) {
    if (unpacked >= MOST_UNPACKED) return at;
    const { batch, next, worst } = nextBatch(rows, at, share);
    at = next;
    if (batch.length === 0) continue;
    const bytes = await load(db, batch, largest);
    unpacked += bytes;
    share = Math.min(1, Math.max(LEAST_SHARE, (2 * bytes) / worst));
  }
  return rows.length;
}

/** Packed rows from `at` on, one at least, of which no more than a batch is expected. */
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

/** Returns how many bytes it has unpacked. */
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

// By its place, so that it is the version of the row that the other columns are of.
const loadSql: Statement = (s) => `
  select job.id, pg_catalog.octet_length(job.payload) as bytes,
    case when pg_catalog.octet_length(job.payload) <= $3::int then job.payload end as payload
  from (
    select jobs.id, jobs.payload::text as payload
    from ${s}._private_jobs as jobs
    where jobs.ctid = any($1::tid[]) and jobs.id = any($2::bigint[])
    offset 0
  ) as job`;
