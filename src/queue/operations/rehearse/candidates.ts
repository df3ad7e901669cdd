// Where PostgreSQL can only narrow a query down, Node decides on the texts of what is left. The version
// of the row that was looked at goes with the id: what has changed since is not what was decided on.
import { type Database, query } from "../../../database/database.ts";
import type { JobQuery } from "../../query/job-query.ts";
import type { Tally } from "./match-counts.ts";

export interface Candidates {
  readonly ids: readonly string[];
  readonly ctids: readonly string[];
  readonly tally: Tally;
  /** Up to this id all have been looked at. */
  readonly uptoId: string;
}

// Their texts are in memory at once.
const MOST_CANDIDATES = 200;
const LARGEST_PAYLOAD_BYTES = 262_144;

interface CandidateRow {
  readonly id: string;
  readonly ctid: string;
  readonly payload: string | null;
  readonly last_error: string | null;
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
  const values = [afterId, uptoId, MOST_CANDIDATES, ...jobs.values];
  const rows = await query<CandidateRow>(db, candidatesSql(jobs), values);
  // A payload too large to be looked at decides nothing: its job is left alone.
  const matching = rows.filter(
    ({ payload, last_error, marks }) =>
      payload !== null && check?.({ payload, last_error, marks }) !== false,
  );
  return {
    ids: matching.map(({ id }) => id),
    ctids: matching.map(({ ctid }) => ctid),
    tally: {
      ...tallyOf(matching),
      undecided: rows.filter(({ payload }) => payload === null).length,
    },
    uptoId: rows.length < MOST_CANDIDATES ? uptoId : (rows.at(-1)?.id ?? uptoId),
  };
}

function tallyOf(rows: readonly CandidateRow[]): Tally {
  const by = (key: (row: CandidateRow) => number | null) =>
    new Map([...Map.groupBy(rows, key)].map(([id, some]) => [id, some.length]));
  return {
    rows: rows.length,
    locked: rows.filter(({ is_locked }) => is_locked).length,
    undecided: 0,
    payloadBytes: rows.reduce((all, { size }) => all + size, 0),
    errorBytes: rows.reduce((all, { last_error }) => all + (last_error?.length ?? 0), 0),
    byTask: by(({ task_id }) => task_id),
    byQueue: by(({ job_queue_id }) => job_queue_id),
  };
}

const candidatesSql = (jobs: JobQuery) => (s: string) =>
  `
  select jobs.id, jobs.ctid::text as ctid, jobs.last_error,
    jobs.locked_at is not null as is_locked, jobs.task_id, jobs.job_queue_id,
    pg_catalog.pg_column_size(jobs.payload) as size,
    case when pg_catalog.pg_column_size(jobs.payload) <= ${LARGEST_PAYLOAD_BYTES} then jobs.payload end as payload,
    ${jobs.marks(4)} as marks
  from ${s}._private_jobs as jobs
  where jobs.id > $1::bigint and jobs.id <= $2::bigint
  and ${jobs.sql(4)}
  order by jobs.id
  limit $3::int`;
