// Reads the rows of jobs that this process groups, or whose texts it checks against a query. Of a small table, all
// matching rows are read. If too many rows match, or the table is large or slow to read, the matching rows on random
// pages are read, and for groups of errors also the newest failed jobs.

import { monotonic } from "../../base/clock.ts";
import { type Database, query, type Statement } from "../../database/database.ts";
import { nullOnTimeout } from "../../database/null-on-timeout.ts";
import { usableIndexes } from "../../database/schema/indexes/usable-indexes.ts";
import { ERROR_START } from "../../domain/error-group.ts";
import { exactValue, intervalValue, type Value } from "../../domain/value.ts";
import { isFailed } from "../../queue/sql/job-state.ts";
import { lockHolder } from "../../queue/sql/lock.ts";
import { failedAt, isFailureTimed } from "../expressions/failed-at.ts";
import { loadPacked, type PackableRow, packable } from "../expressions/large-values.ts";
import { type CheckedTexts, type JobQuery, undecidedBy } from "../query/job-query.ts";
import type { Gauge } from "../stats/gauge.ts";
import { sampleInTime } from "../stats/in-time.ts";
import { estimateFrom, selectPages } from "../stats/page-sample.ts";
import { readJobsPerPage, rowsOfPage } from "../stats/sample-jobs.ts";
import { shuffle } from "./shuffle.ts";

export interface GroupedRow {
  /** The index of the row's page in the sample; 0 if the row was not read for a sample. */
  readonly page: number;
  readonly id: string;
  readonly taskId: number;
  readonly queueId: number | null;
  readonly lockedBy: string | null;
  readonly priority: number;
  /** The beginning of the job's last error; empty if the job has no error. */
  readonly errorStart: string;
  /** The time of the last failure, in ms since 1970; null: unknown. */
  readonly failedMs: number | null;
}

export interface GroupedRows {
  readonly rows: readonly GroupedRow[];
  /** The number of sampled pages that were read; 0 if the whole table was read. */
  readonly pagesRead: number;
  /** The average number of jobs on the pages of the sample. */
  readonly jobsPerPage: number;
  /** Rows that may match: the payload is too large or was not read, or a compared value is compressed. */
  readonly undecided: readonly GroupedRow[];
  /** The matching rows among the newest failed jobs. Some of them may be in `rows`, too. */
  readonly newest: readonly GroupedRow[];
}

const WHOLE = { pagesRead: 0, jobsPerPage: 0 };

type SplitRows = Pick<GroupedRows, "rows" | "undecided">;

const MAX_EXACT = 15_000;
const MAX_SAMPLED = 7_500;
const SAMPLED_PAGES = 2_500;
const NEWEST = 2_000;
/** The time after which readAll() reads no further part of the table. */
const MAX_PARTS_MS = 500;
/** The maximum number of rows of a statement that reads texts to check: all these texts are in memory at once. */
const MAX_CHECKED = 1_000;
const MAX_CHECKED_BYTES = 16_384;
const LEAST_ID = String(-(2n ** 63n));

/**
 * Reads the rows of matching jobs; with `needsError`, only of jobs with an error. If a read takes too long, further
 * reads use the light form of the query, if there is one: it decompresses no values. With `isLate`, all reads use the
 * light form.
 */
export async function readGroupedRows(
  db: Database,
  jobQuery: JobQuery,
  { pages }: Gauge,
  smallPages: number,
  needsError: boolean,
  isLate = false,
): Promise<GroupedRows> {
  if (jobQuery.isEmpty) return { rows: [], ...WHOLE, undecided: [], newest: [] };
  const { light } = jobQuery;
  const isChecked = jobQuery.check !== null;
  let wanted = (isLate ? light : null) ?? jobQuery;
  if (pages <= smallPages) {
    let all = await readAll(db, wanted, jobQuery, needsError);
    if (all === "late" && wanted !== light && light !== null) {
      wanted = light;
      all = await readAll(db, light, jobQuery, needsError);
    }
    if (typeof all === "object") return { ...all, ...WHOLE, newest: [] };
  }
  const most = isChecked ? MAX_CHECKED : MAX_SAMPLED;
  const sample = (some: JobQuery) => async (count: number) => {
    // The pages are in random order. So if `most` ends the read early, the pages that were read are a random sample.
    const selected = shuffle(selectPages(pages, count));
    const values = [MAX_CHECKED_BYTES, most, selected, ...some.values];
    wanted = some;
    const rows = await readRows(db, some, sampleSql(some, needsError), values);
    const jobsPerPage = await readJobsPerPage(db, selected);
    return { ...sampleRows(rows, selected, most, jobQuery), jobsPerPage };
  };
  const kind = isChecked ? "texts" : "groups";
  const readLight = light === null ? null : sample(light);
  const found = await sampleInTime(db, kind, SAMPLED_PAGES, sample(wanted), readLight);
  return { ...found, newest: needsError ? await newestOf(db, wanted) : [] };
}

/**
 * Reads all matching rows of the table, in parts if this process checks their texts. Returns `late` if the read takes
 * too long, and `many` if more than MAX_EXACT rows match the query's SQL.
 */
async function readAll(
  db: Database,
  some: JobQuery,
  jobQuery: JobQuery,
  needsError: boolean,
): Promise<SplitRows | "late" | "many"> {
  const isChecked = jobQuery.check !== null;
  const most = isChecked ? MAX_CHECKED : MAX_EXACT + 1;
  const statement = allSql(some, needsError, isChecked);
  const began = monotonic();
  const rows: GroupedRow[] = [];
  const undecided: GroupedRow[] = [];
  for (let read = 0, last = LEAST_ID; ; ) {
    const values = [MAX_CHECKED_BYTES, most, last, ...some.values];
    const found = await nullOnTimeout(readRows(db, some, statement, values));
    if (found === null) return "late";
    read += found.length;
    if (read > MAX_EXACT) return "many";
    const part = splitRows(found, jobQuery);
    rows.push(...part.rows);
    undecided.push(...part.undecided);
    last = found.at(-1)?.id ?? last;
    if (found.length < most) return { rows, undecided };
    if (monotonic() - began > MAX_PARTS_MS) return "late";
  }
}

/** Returns how many jobs of the whole table are represented by `rows`. */
export function countRows(
  rows: readonly GroupedRow[],
  { pagesRead, jobsPerPage, undecided }: GroupedRows,
  { pages }: Gauge,
  asOf: string,
): Value {
  const { length } = rows;
  if (pagesRead === 0) {
    if (undecided.length === 0) return exactValue(length, "scan", asOf);
    const high = length + undecided.length;
    return intervalValue({ value: length, low: length, high }, "scan", asOf);
  }
  const estimate = (some: readonly GroupedRow[]) => {
    const counts = new Array<number>(pagesRead).fill(0);
    for (const { page } of some) counts[page] = (counts[page] ?? 0) + 1;
    return estimateFrom(pages, counts, jobsPerPage);
  };
  const certain = estimate(rows);
  if (undecided.length === 0) return intervalValue(certain, "sample", asOf);
  return intervalValue(
    { ...certain, high: estimate([...rows, ...undecided]).high },
    "sample",
    asOf,
  );
}

function sampleRows(
  found: readonly TextRow[],
  selected: readonly number[],
  most: number,
  jobQuery: JobQuery,
) {
  const isCut = found.length >= most;
  const pagesRead = isCut ? Math.max((found.at(-1)?.place ?? 1) - 1, 1) : selected.length;
  const pages = selected.slice(0, pagesRead);
  // estimateFrom() compares neighbouring pages, so the pages of a complete sample are sorted.
  const order = isCut ? pages : pages.toSorted((a, b) => a - b);
  const indexOf = new Map(order.map((page, index) => [page, index]));
  const kept = found.filter(({ place }) => place <= pagesRead);
  const placed = (row: GroupedRow) => ({
    ...row,
    page: indexOf.get(selected[row.page - 1] ?? 0) ?? 0,
  });
  const { rows, undecided } = splitRows(kept, jobQuery);
  return { rows: rows.map(placed), undecided: undecided.map(placed), pagesRead };
}

async function newestOf(db: Database, jobQuery: JobQuery): Promise<readonly GroupedRow[]> {
  const { conditions } = jobQuery.shape;
  if (conditions !== null && !conditions.includes("failed")) return [];
  if (!(await usableIndexes(db)).has("failed")) return [];
  return (await nullOnTimeout(readNewest(db, jobQuery))) ?? [];
}

/** Returns matches among the newest 2,000 failed jobs (1,000 if texts are checked). Slow without the index `failed`. */
export async function readNewest(db: Database, jobQuery: JobQuery): Promise<readonly GroupedRow[]> {
  const most = jobQuery.check === null ? NEWEST : MAX_CHECKED;
  const values = [MAX_CHECKED_BYTES, most, ...jobQuery.values];
  return splitRows(await readRows(db, jobQuery, newestSql(jobQuery), values), jobQuery).rows;
}

async function readRows(
  db: Database,
  { check }: JobQuery,
  statement: Statement,
  values: readonly unknown[],
): Promise<TextRow[]> {
  const rows = await query<TextRow>(db, statement, [...values]);
  const decided = rows.filter((row) => !row.is_undecided);
  if (check !== null) await loadPacked(db, decided, MAX_CHECKED_BYTES);
  return rows;
}

function splitRows(rows: readonly TextRow[], { check }: JobQuery): SplitRows {
  const isOpen = (row: TextRow) => row.is_undecided || (check !== null && row.payload === null);
  const matches = (row: TextRow) => check === null || check(row as CheckedTexts);
  return {
    rows: groupedRows(rows.filter((row) => !isOpen(row) && matches(row))),
    undecided: groupedRows(rows.filter(isOpen)),
  };
}

function groupedRows(rows: readonly TextRow[]): GroupedRow[] {
  return rows.map((row) => ({
    page: row.place,
    id: row.id,
    taskId: row.task_id,
    queueId: row.queue_id,
    lockedBy: row.locked_by,
    priority: row.priority,
    errorStart: row.error_start ?? "",
    failedMs: row.failed_s === null ? null : row.failed_s * 1_000,
  }));
}

/** `payload` is null if no texts are checked, or if the payload was not read. */
interface TextRow extends PackableRow {
  readonly place: number;
  readonly is_undecided: boolean;
  readonly task_id: number;
  readonly queue_id: number | null;
  readonly locked_by: string | null;
  readonly priority: number;
  readonly error_start: string | null;
  readonly failed_s: number | null;
  readonly last_error: string | null;
  readonly marks: string | null;
}

// extract() would return a numeric, which takes longer to compute than all the rest.
const columns = (jobQuery: JobQuery, first: number) => `jobs.id, jobs.task_id,
      jobs.job_queue_id as queue_id, ${lockHolder("jobs")} as locked_by, jobs.priority,
      pg_catalog.left(jobs.last_error, ${ERROR_START}) as error_start,
      case when ${isFailureTimed("jobs")} then pg_catalog.date_part('epoch', ${failedAt("jobs")}) end as failed_s,
      ${jobQuery.check === null ? "null::text" : jobQuery.marks(first)} as marks,
      ${undecidedBy(jobQuery)} as is_undecided,
      ${jobQuery.check === null ? NO_TEXTS : `${packable("$1")}, pg_catalog.left(jobs.last_error, $1::int) as last_error`}`;

// NO_TEXTS contains $1, because PostgreSQL rejects unused parameters.
const NO_TEXTS = "null::text as payload, pg_catalog.left(null::text, $1::int) as last_error";

const isWanted = (jobQuery: JobQuery, first: number, needsError: boolean) =>
  `${needsError ? "jobs.last_error is not null and " : ""}${jobQuery.sql(first)}`;

const allSql =
  (jobQuery: JobQuery, needsError: boolean, isPart: boolean): Statement =>
  (s) =>
    `
  select 0 as place, ${columns(jobQuery, 4)}
  from ${s}._private_jobs as jobs
  where jobs.id > $3::bigint and ${isWanted(jobQuery, 4, needsError)}
  ${isPart ? "order by jobs.id" : ""}
  limit $2::int`;

const sampleSql =
  (jobQuery: JobQuery, needsError: boolean): Statement =>
  (s) =>
    `
  select sampled.place::int as place, job.*
  from pg_catalog.unnest($3::bigint[]) with ordinality as sampled (page, place)
  cross join lateral (${rowsOfPage(
    s,
    "sampled.page",
    columns(jobQuery, 4),
    isWanted(jobQuery, 4, needsError),
  )}
  ) as job
  limit $2::int`;

const newestSql =
  (jobQuery: JobQuery): Statement =>
  (s) =>
    `
  select 0 as place, ${columns(jobQuery, 3)}
  from (
    select * from ${s}._private_jobs as jobs
    where ${isFailed("jobs")}
    order by jobs.updated_at desc, jobs.id desc
    limit $2::int
  ) as jobs
  where ${isWanted(jobQuery, 3, true)}`;
