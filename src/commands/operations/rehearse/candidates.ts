// Finds the jobs that match a query if SQL alone cannot decide which jobs match. SQL finds candidates, and this process
// checks their payloads and errors. Each matching job is returned with the place (ctid) of the checked version of its
// row. A job that changes after the check has another place, so an operation skips the job.
import { type Database, query } from "../../../database/database.ts";
import {
  loadPacked,
  type PackableRow,
  packable,
} from "../../../insight/expressions/large-values.ts";
import type { CheckedTexts, JobQuery } from "../../../insight/query/job-query.ts";
import type { MatchTally } from "./match-counts.ts";

export interface Candidates {
  readonly ids: readonly string[];
  readonly ctids: readonly string[];
  readonly tally: MatchTally;
  /** All candidates up to this id have been processed. To continue, pass this id to the next call as `afterId`. */
  readonly uptoId: string;
}

/** The maximum number of candidates of one call. Their payloads and errors are in memory together. */
const MAX_CANDIDATES = 200;
/** A payload that takes more bytes than this in the table, compressed or not, is not checked. */
const MAX_STORED_BYTES = 65_536;
/** A payload that has more bytes than this after decompression is not checked. */
const MAX_UNPACKED_BYTES = 262_144;
const MAX_ERROR_LENGTH = 16_384;

interface CandidateRow extends PackableRow {
  readonly last_error: string | null;
  readonly error_size: number;
  readonly marks: string | null;
  readonly is_locked: boolean;
  readonly task_id: number;
  readonly job_queue_id: number | null;
  readonly size: number;
}

export async function readCandidates(
  db: Database,
  jobs: JobQuery,
  afterId: string,
  uptoId: string,
): Promise<Candidates> {
  const { check } = jobs;
  const values = [afterId, uptoId, MAX_CANDIDATES, ...jobs.values];
  const rows = await query<CandidateRow>(db, candidatesSql(jobs), values);
  const checked = rows.slice(0, await loadPacked(db, rows, MAX_UNPACKED_BYTES));
  // If `payload` is null, the payload is too large to check. Its job is left out, and counts as `undecided`.
  const matching = checked.filter(
    (row) => row.payload !== null && check?.(row as CheckedTexts) !== false,
  );
  const isCut = checked.length < rows.length || rows.length === MAX_CANDIDATES;
  return {
    ids: matching.map(({ id }) => id),
    ctids: matching.map((row) => row.place_in_table),
    tally: {
      ...tallyOf(matching),
      undecided: checked.filter(({ payload }) => payload === null).length,
    },
    uptoId: isCut ? (checked.at(-1)?.id ?? uptoId) : uptoId,
  };
}

function tallyOf(rows: readonly CandidateRow[]): MatchTally {
  const by = (key: (row: CandidateRow) => number | null) =>
    new Map([...Map.groupBy(rows, key)].map(([id, some]) => [id, some.length]));
  return {
    rows: rows.length,
    locked: rows.filter(({ is_locked }) => is_locked).length,
    undecided: 0,
    payloadBytes: rows.reduce((all, { size }) => all + size, 0),
    errorBytes: rows.reduce((all, { error_size }) => all + error_size, 0),
    byTask: by(({ task_id }) => task_id),
    byQueue: by(({ job_queue_id }) => job_queue_id),
  };
}

const candidatesSql = (jobs: JobQuery) => (s: string) =>
  `
  select jobs.id, pg_catalog.left(jobs.last_error, ${MAX_ERROR_LENGTH}) as last_error,
    coalesce(pg_catalog.octet_length(jobs.last_error), 0) as error_size,
    jobs.locked_at is not null as is_locked, jobs.task_id, jobs.job_queue_id,
    pg_catalog.pg_column_size(jobs.payload) as size,
    ${packable(String(MAX_STORED_BYTES))},
    ${jobs.marks(4)} as marks
  from ${s}._private_jobs as jobs
  where jobs.id > $1::bigint and jobs.id <= $2::bigint
  and ${jobs.sql(4)}
  order by jobs.id
  limit $3::int`;
