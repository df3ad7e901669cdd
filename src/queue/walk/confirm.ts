// What PostgreSQL can only narrow down is decided here, on the texts of the candidates. They are read in
// small groups, so that no statement unpacks much at once; a text too large to be read is left out and
// counted.
import { type Database, query, type Statement } from "../../database/database.ts";
import type { CheckedTexts } from "../query/job-query.ts";
import { isAtMost, worstBytes } from "../sql/unpacked.ts";
import type { Check } from "./matching.ts";

const GROUP = 25;
/** Bytes, unpacked at the worst, that are read beside others. */
const SMALL_BYTES = 524_288;
/** Bytes that are read at all. */
const MOST_BYTES = 8 * 1_048_576;

export interface Confirmed {
  readonly ids: ReadonlySet<string>;
  /** Candidates too large to be looked at. */
  readonly unchecked: number;
}

/** Those of `ids` for which the check holds. */
export async function confirm(
  db: Database,
  ids: readonly string[],
  { decide, marks, sql, values }: Check,
): Promise<Confirmed> {
  const confirmed = new Set<string>();
  let unchecked = 0;
  const look = (row: TextsRow) => {
    if (row.is_large) unchecked += 1;
    else if (decide(row as CheckedTexts)) confirmed.add(row.id);
  };
  const read = (some: readonly string[], mostBytes: number) =>
    query<TextsRow>(db, (schema) => textsSql(schema, marks(3), sql(3)), [
      some,
      mostBytes,
      ...values,
    ]);
  for (let at = 0; at < ids.length; at += GROUP) {
    const rows = await read(ids.slice(at, at + GROUP), SMALL_BYTES);
    for (const row of rows) {
      if (!row.is_large) look(row);
      else if (!(await fits(db, row.id))) unchecked += 1;
      else (await read([row.id], WORST_BYTES)).forEach(look);
    }
  }
  return { ids: confirmed, unchecked };
}

/** Of what fits, at the worst: it may have grown since. */
const WORST_BYTES = 64 * MOST_BYTES;

async function fits(db: Database, id: string): Promise<boolean> {
  const [row] = await query<{ fits: boolean }>(db, fitsSql, [id]);
  return row?.fits !== false;
}

const fitsSql: Statement = (schema) => `
  select ${isAtMost("jobs.payload", MOST_BYTES)}
    and coalesce(pg_catalog.octet_length(jobs.last_error), 0) <= ${MOST_BYTES} as fits
  from ${schema}._private_jobs as jobs
  where jobs.id = $1::bigint`;

interface TextsRow {
  readonly id: string;
  readonly payload: string | null;
  readonly last_error: string | null;
  readonly marks: string | null;
  readonly is_large: boolean;
}

// The marks are asked for only where the text may be read: they, too, may unpack it. They need not use
// every parameter, and PostgreSQL takes none that nothing uses.
const textsSql = (schema: string, marks: string, condition: string) => `
  select texts.id, texts.bytes > $2::bigint as is_large,
    case when texts.bytes <= $2::bigint then ${marks} end as marks,
    case when texts.bytes <= $2::bigint then jobs.payload::text end as payload,
    case when texts.bytes <= $2::bigint then jobs.last_error end as last_error
  from (
    select jobs.id, ${worstBytes("jobs.payload")}
      + coalesce(pg_catalog.octet_length(jobs.last_error), 0) as bytes
    from ${schema}._private_jobs as jobs
    where jobs.id = any($1::bigint[])
    offset 0
  ) as texts
  join ${schema}._private_jobs as jobs on jobs.id = texts.id
  where true or ${condition}`;
