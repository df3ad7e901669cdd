// Counts the matches of a query exactly, in short steps by ascending id, because the id of a job never changes.
import { monotonic } from "../../base/clock.ts";
import { type Database, query, type Statement } from "../../database/database.ts";
import { nullOnTimeout } from "../../database/null-on-timeout.ts";
import { loadPacked, type PackableRow, packable } from "../expressions/large-values.ts";
import type { CheckedTexts, JobQuery } from "../query/job-query.ts";
import { idAfter } from "../walk/id-walk.ts";

/** The progress of a count, from which countOn() continues. */
export interface CountProgress {
  readonly count: number;
  /** The number of jobs that may match: their payload was too large, or reading them took too long. */
  readonly undecided: number;
  /** The id after which the count began. */
  readonly firstId: string;
  /** The id up to which all jobs are counted. */
  readonly afterId: string;
  /** The highest id at the start of the count. Newer jobs are excluded. */
  readonly lastId: string;
}

/** The target durations of a step, and of one call of countOn(). */
const STEP_MS = 100;
const ANSWER_MS = 400;
/** A span is the maximum number of jobs in a step. */
const FIRST_SPAN = 2_000;
const SHRINK = 8;
const MAX_SPAN = 100_000_000;
/** The maximum number of rows in a step that checks texts. */
const MAX_CHECKED = 500;
const MAX_ERROR_LENGTH = 4_096;
/** The maximum sizes of a checked payload, stored and unpacked: all rows of a step are in memory at once. */
const MAX_STORED_BYTES = 32_768;
const MAX_UNPACKED_BYTES = 262_144;

const boundsSql: Statement = (s) => `
  select coalesce(pg_catalog.min(id), 1) - 1 as after_id, coalesce(pg_catalog.max(id), 0) as last_id
  from ${s}._private_jobs`;

export async function beginCount(db: Database): Promise<CountProgress> {
  const [row] = await query<{ after_id: string; last_id: string }>(db, boundsSql);
  const firstId = row?.after_id ?? "0";
  return { count: 0, undecided: 0, firstId, afterId: firstId, lastId: row?.last_id ?? "0" };
}

export function isDone({ afterId, lastId }: CountProgress): boolean {
  return BigInt(afterId) >= BigInt(lastId);
}

/**
 * Continues a count for about 0.4 s, or until all jobs are counted. `mustMove`: continues longer if there is no
 * progress yet, so that a client never gets the same cursor twice.
 */
export async function countOn(
  db: Database,
  jobQuery: JobQuery,
  from: CountProgress,
  mustMove = false,
): Promise<CountProgress> {
  if (jobQuery.isEmpty) return { ...from, afterId: from.lastId };
  const deadline = monotonic() + ANSWER_MS;
  let progress = from;
  let span = FIRST_SPAN;
  const isOver = () => monotonic() >= deadline && !(mustMove && progress === from);
  while (!isDone(progress) && !isOver()) {
    const began = monotonic();
    const to = await lastOfStep(db, progress, span);
    const counted = await nullOnTimeout(step(db, jobQuery, progress, to));
    if (counted === null && span > 1) {
      span = Math.ceil(span / SHRINK);
      continue;
    }
    // If even a step of one job has timed out, it is unknown whether this job matches.
    progress = counted ?? { ...progress, undecided: progress.undecided + 1, afterId: to };
    const factor = STEP_MS / Math.max(monotonic() - began, 1);
    // If a limit for texts has ended the step before `to`, the next span is at most half as large.
    const most = progress.afterId === to ? 8 : 0.5;
    span = Math.min(Math.ceil(span * Math.min(Math.max(factor, 0.25), most)), MAX_SPAN);
  }
  return progress;
}

/**
 * The end of a step is searched in the index, because gaps between ids can have any width. If the search times out,
 * because the index has many entries of deleted jobs, `count` ids are taken instead of `count` jobs.
 */
async function lastOfStep(
  db: Database,
  { afterId, lastId }: CountProgress,
  count: number,
): Promise<string> {
  const found = idAfter(db, afterId, false, count).then((id) => id ?? lastId);
  const to = (await nullOnTimeout(found)) ?? BigInt(afterId) + BigInt(count);
  return String(lesser(BigInt(to), BigInt(lastId)));
}

const inSpan = "jobs.id > $1::bigint and jobs.id <= $2::bigint";

const countSql =
  (jobQuery: JobQuery): Statement =>
  (s) =>
    `
  select pg_catalog.count(*) as count from ${s}._private_jobs as jobs
  where ${inSpan} and ${jobQuery.sql(3)}`;

const checkedSql =
  (jobQuery: JobQuery): Statement =>
  (s) =>
    `
  select jobs.id, pg_catalog.left(jobs.last_error, ${MAX_ERROR_LENGTH}) as last_error,
    ${jobQuery.marks(4)} as marks,${packable(String(MAX_STORED_BYTES))}
  from ${s}._private_jobs as jobs
  where ${inSpan} and ${jobQuery.sql(4)}
  order by jobs.id limit $3::int`;

type CheckedRow = PackableRow & Omit<CheckedTexts, "payload">;

async function step(
  db: Database,
  jobQuery: JobQuery,
  from: CountProgress,
  to: string,
): Promise<CountProgress> {
  const { count, undecided, afterId } = from;
  const { check } = jobQuery;
  if (check === null) {
    const values = [afterId, to, ...jobQuery.values];
    const [row] = await query<{ count: string }>(db, countSql(jobQuery), values);
    return { ...from, count: count + Number(row?.count ?? 0), afterId: to };
  }
  const values = [afterId, to, MAX_CHECKED, ...jobQuery.values];
  const rows = await query<CheckedRow>(db, checkedSql(jobQuery), values);
  const checked = rows.slice(0, await loadPacked(db, rows, MAX_UNPACKED_BYTES));
  const matching = checked.filter(
    (row) => row.payload !== null && check(row as CheckedTexts),
  ).length;
  const large = checked.filter((row) => row.payload === null).length;
  const isCut = checked.length < rows.length || rows.length === MAX_CHECKED;
  const reached = isCut ? (checked.at(-1)?.id ?? to) : to;
  return { ...from, count: count + matching, undecided: undecided + large, afterId: reached };
}

function lesser(one: bigint, other: bigint): bigint {
  return one < other ? one : other;
}
