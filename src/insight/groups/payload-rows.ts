// Reads the payloads that read-common.ts compares: those of jobs that match a query, or those of other jobs of the same
// tasks. In a small table the newest jobs are read. In a large table, or if this read takes too long, the jobs on
// random pages are read. If these pages have few matching jobs, the newest matching jobs are searched, too.
import { monotonic } from "../../base/clock.ts";
import { type Database, query, type Statement } from "../../database/database.ts";
import { nullOnTimeout } from "../../database/null-on-timeout.ts";
import { loadPacked, type PackableRow, packable } from "../expressions/large-values.ts";
import { type CheckedTexts, type JobQuery, undecidedBy } from "../query/job-query.ts";
import type { Gauge } from "../stats/gauge.ts";
import { sampleInTime } from "../stats/in-time.ts";
import { selectPages } from "../stats/page-sample.ts";
import { rowsOfPage } from "../stats/sample-jobs.ts";
import { shuffle } from "./shuffle.ts";

export interface PayloadRow {
  readonly id: string;
  readonly taskId: number;
  readonly queueId: number | null;
  readonly priority: number;
  readonly payload: string;
}

/** The jobs that match the query, or the other jobs of the tasks `taskIds`. */
export type Side = { readonly matching: true } | { readonly matching: false; taskIds: number[] };

const MAX_ROWS = 1_000;
const FEW_ROWS = 100;
const SAMPLED_PAGES = 2_000;
/** Jobs whose payload is larger than this after decompression are left out, because all rows are in memory at once. */
const MAX_PAYLOAD_BYTES = 16_384;
const WALK_MS = 300;
const STEP_MS = 100;
const FIRST_SPAN = 20_000;

export interface Payloads {
  readonly rows: readonly PayloadRow[];
  /** The given query. If a read with this query took too long: its `light` query, if there is one. */
  readonly usedQuery: JobQuery;
}

export async function readPayloads(
  db: Database,
  jobQuery: JobQuery,
  side: Side,
  { pages }: Gauge,
  smallPages: number,
): Promise<Payloads> {
  let usedQuery = jobQuery;
  const { light } = jobQuery;
  if (pages <= smallPages) {
    const all = await nullOnTimeout(newest(db, usedQuery, side));
    if (all !== null) return { rows: all, usedQuery };
    usedQuery = light ?? usedQuery;
  }
  const sample = (some: JobQuery) => (count: number) => {
    usedQuery = some;
    return readCandidates(db, some, side, sampleSql, [shuffle(selectPages(pages, count))]);
  };
  const readLight = light === null ? null : sample(light);
  const sampled = await sampleInTime(db, "payloads", SAMPLED_PAGES, sample(usedQuery), readLight);
  if (sampled.rows.length >= FEW_ROWS || !side.matching) return { rows: sampled.rows, usedQuery };
  const walked = await walkNewest(db, usedQuery, side);
  return { rows: walked.length > sampled.rows.length ? walked : sampled.rows, usedQuery };
}

/**
 * Returns the newest jobs of `side`, at most MAX_ROWS. Several statements may be necessary, because readCandidates()
 * may remove some of the rows that a statement has read.
 */
async function newest(db: Database, jobQuery: JobQuery, side: Side): Promise<PayloadRow[]> {
  const until = monotonic() + WALK_MS;
  const found: PayloadRow[] = [];
  for (let to = MAX_ID; ; ) {
    const { rows, lastId } = await readCandidates(db, jobQuery, side, newestSql, [to]);
    found.push(...rows);
    if (lastId === null || found.length >= MAX_ROWS || monotonic() > until) break;
    to = String(BigInt(lastId) - 1n);
  }
  return found.slice(0, MAX_ROWS);
}

const MAX_ID = "9223372036854775807";

/**
 * Returns the newest jobs of `side` that are found within about WALK_MS, at most MAX_ROWS. Each statement reads only a
 * range of ids, so that it ends in time even if few jobs match.
 */
async function walkNewest(db: Database, jobQuery: JobQuery, side: Side): Promise<PayloadRow[]> {
  const found: PayloadRow[] = [];
  const until = monotonic() + WALK_MS;
  const [bounds] = await query<{ first: string; last: string }>(db, boundsSql);
  const first = BigInt(bounds?.first ?? 0);
  let to = BigInt(bounds?.last ?? 0);
  let span = FIRST_SPAN;
  while (to >= first && found.length < MAX_ROWS && monotonic() < until) {
    const began = monotonic();
    const from = to - BigInt(span);
    const within = [String(from), String(to)];
    const some = await nullOnTimeout(readCandidates(db, jobQuery, side, spanSql, within));
    if (some === null) break;
    found.push(...some.rows);
    to = some.lastId === null ? from : BigInt(some.lastId) - 1n;
    const factor = STEP_MS / Math.max(monotonic() - began, 1);
    span = Math.ceil(span * Math.min(Math.max(factor, 0.25), 8));
  }
  return found.slice(0, MAX_ROWS);
}

type Form = (jobQuery: JobQuery, side: Side) => Statement;

interface CandidateRows {
  readonly rows: PayloadRow[];
  /** The id of the last candidate if more candidates may exist; else null. */
  readonly lastId: string | null;
}

async function readCandidates(
  db: Database,
  jobQuery: JobQuery,
  side: Side,
  form: Form,
  own: readonly unknown[],
): Promise<CandidateRows> {
  const taskIds = side.matching ? null : side.taskIds;
  const values = [MAX_PAYLOAD_BYTES, MAX_ROWS, taskIds, ...own, ...jobQuery.values];
  const candidates = await query<Row>(db, form(jobQuery, side), values);
  const { check } = jobQuery;
  await loadPacked(db, candidates, MAX_PAYLOAD_BYTES);
  const rows = candidates
    .filter((row): row is Row & { payload: string } => row.payload !== null)
    .filter((row) => (row.is_match && (check === null || check(row))) === side.matching)
    .map((row) => ({
      id: row.id,
      taskId: row.task_id,
      queueId: row.queue_id,
      priority: row.priority,
      payload: row.payload,
    }));
  const isCut = candidates.length >= MAX_ROWS;
  return { rows, lastId: isCut ? (candidates.at(-1)?.id ?? null) : null };
}

interface Row extends PackableRow, Omit<CheckedTexts, "payload"> {
  readonly task_id: number;
  readonly queue_id: number | null;
  readonly priority: number;
  readonly is_match: boolean;
}

const columns = (jobQuery: JobQuery, first: number) => `jobs.id, jobs.task_id,
      jobs.job_queue_id as queue_id, jobs.priority, ${packable("$1")},
      ${jobQuery.check === null ? "null::text" : `pg_catalog.left(jobs.last_error, ${MAX_PAYLOAD_BYTES})`} as last_error,
      ${jobQuery.check === null ? "null::text" : jobQuery.marks(first)} as marks,
      coalesce(${jobQuery.sql(first)}, false) as is_match`;

// If the query has a check(), the condition also accepts jobs of the other side, and readCandidates() removes them.
const wanted = (
  jobQuery: JobQuery,
  side: Side,
  first: number,
) => `pg_catalog.pg_column_size(jobs.payload) <= $1::int and not ${undecidedBy(jobQuery)}
      and ${
        side.matching
          ? `$3::int[] is null and ${jobQuery.sql(first)}`
          : `jobs.task_id = any($3::int[])${jobQuery.check === null ? ` and (${jobQuery.sql(first)}) is not true` : ""}`
      }`;

const newestSql: Form = (jobQuery, side) => (s) =>
  `
  select ${columns(jobQuery, 5)}
  from ${s}._private_jobs as jobs
  where jobs.id <= $4::bigint and ${wanted(jobQuery, side, 5)}
  order by jobs.id desc limit $2::int`;

const sampleSql: Form = (jobQuery, side) => (s) =>
  `
  select job.*
  from pg_catalog.unnest($4::bigint[]) as sampled (page)
  cross join lateral (${rowsOfPage(s, "sampled.page", columns(jobQuery, 5), wanted(jobQuery, side, 5))}
  ) as job
  limit $2::int`;

const spanSql: Form = (jobQuery, side) => (s) =>
  `
  select ${columns(jobQuery, 6)}
  from ${s}._private_jobs as jobs
  where jobs.id > $4::bigint and jobs.id <= $5::bigint and ${wanted(jobQuery, side, 6)}
  order by jobs.id desc limit $2::int`;

const boundsSql: Statement = (s) => `
  select coalesce(pg_catalog.min(id), 0) as first, coalesce(pg_catalog.max(id), 0) as last from ${s}._private_jobs`;
