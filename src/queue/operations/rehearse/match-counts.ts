// How many jobs match, by task and by queue: in a range of ids, or in a random part of the table.
import { type Database, query } from "../../../database/database.ts";
import type { JobQuery } from "../../query/job-query.ts";

export interface MatchCounts {
  readonly rows: number;
  /** The sum of the squares of each page's count. */
  readonly squares: number;
  readonly locked: number;
  readonly payloadBytes: number;
  readonly errorBytes: number;
  readonly byTask: ReadonlyMap<number | null, number>;
  readonly byQueue: ReadonlyMap<number | null, number>;
  /** Both together, of two ranges. */
  and(other: MatchCounts): MatchCounts;
}

type Plain = Omit<MatchCounts, "and">;

export function matchCounts(plain: Plain): MatchCounts {
  return {
    ...plain,
    and: (other) =>
      matchCounts({
        rows: plain.rows + other.rows,
        squares: plain.squares + other.squares,
        locked: plain.locked + other.locked,
        payloadBytes: plain.payloadBytes + other.payloadBytes,
        errorBytes: plain.errorBytes + other.errorBytes,
        byTask: sum(plain.byTask, other.byTask),
        byQueue: sum(plain.byQueue, other.byQueue),
      }),
  };
}

export const noMatches = matchCounts({
  ...{ rows: 0, squares: 0, locked: 0, payloadBytes: 0, errorBytes: 0 },
  byTask: new Map(),
  byQueue: new Map(),
});

type Counts = ReadonlyMap<number | null, number>;

function sum(one: Counts, other: Counts): Counts {
  const both = new Map(one);
  for (const [key, count] of other) both.set(key, (both.get(key) ?? 0) + count);
  return both;
}

/** Of the ids after `afterId` up to `uptoId`. */
export function countRange(
  db: Database,
  jobs: JobQuery,
  afterId: string,
  uptoId: string,
): Promise<MatchCounts> {
  return counted(db, jobs, "", [afterId, uptoId]);
}

/** Of about `percent` of the table's pages. */
export function countSample(
  db: Database,
  jobs: JobQuery,
  uptoId: string,
  percent: number,
): Promise<MatchCounts> {
  return counted(db, jobs, "tablesample system ($3::float4)", ["0", uptoId, percent]);
}

interface CountRow {
  /** Which of the four it is: the bits of what it is not grouped by. */
  readonly of: number;
  readonly is_locked: boolean | null;
  readonly task_id: number | null;
  readonly job_queue_id: number | null;
  readonly jobs: number;
  readonly payload_bytes: number;
  readonly error_bytes: number;
}

const BY_BLOCK = 0b0111;
const BY_LOCKED = 0b1011;
const BY_TASK = 0b1101;
const BY_QUEUE = 0b1110;

async function counted(db: Database, jobs: JobQuery, sample: string, values: unknown[]) {
  const statement = countSql(jobs, sample, values.length + 1);
  const rows = await query<CountRow>(db, statement, [...values, ...jobs.values]);
  const of = (bits: number) => rows.filter((row) => row.of === bits);
  const total = (some: CountRow[], name: "jobs" | "payload_bytes" | "error_bytes") =>
    some.reduce((all, row) => all + row[name], 0);
  const byLocked = of(BY_LOCKED);
  const locked = byLocked.filter((row) => row.is_locked === true);
  return matchCounts({
    rows: total(byLocked, "jobs"),
    squares: of(BY_BLOCK).reduce((all, row) => all + row.jobs ** 2, 0),
    locked: total(locked, "jobs"),
    payloadBytes: total(byLocked, "payload_bytes"),
    errorBytes: total(byLocked, "error_bytes"),
    byTask: new Map(of(BY_TASK).map((row) => [row.task_id, row.jobs])),
    byQueue: new Map(of(BY_QUEUE).map((row) => [row.job_queue_id, row.jobs])),
  });
}

const countSql = (jobs: JobQuery, sample: string, first: number) => (s: string) =>
  `
  with matching as (
    select (jobs.ctid::text::point)[0]::int as block, jobs.locked_at is not null as is_locked,
      jobs.task_id, jobs.job_queue_id,
      pg_column_size(jobs.payload) as payload_bytes,
      coalesce(pg_column_size(jobs.last_error), 0) as error_bytes
    from ${s}._private_jobs as jobs ${sample}
    where jobs.id > $1::bigint and jobs.id <= $2::bigint
    and ${jobs.sql(first)}
  )
  select grouping(block, is_locked, task_id, job_queue_id) as of,
    is_locked, task_id, job_queue_id, count(*)::float8 as jobs,
    sum(payload_bytes)::float8 as payload_bytes, sum(error_bytes)::float8 as error_bytes
  from matching
  group by grouping sets ((block), (is_locked), (task_id), (job_queue_id))`;
