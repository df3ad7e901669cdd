// Checks the candidates of a query: the jobs that its SQL accepts. The terms that SQL cannot decide are evaluated on a
// candidate's texts (payload and error). Candidates are read in small groups, so that no statement decompresses much.
import { monotonic } from "../../base/clock.ts";
import { type Database, query } from "../../database/database.ts";
import { nullOnTimeout } from "../../database/null-on-timeout.ts";
import { isAtMost, worstBytes } from "../../database/unpacked.ts";
import type { CheckedTexts } from "../query/job-query.ts";
import type { TextCheck } from "./matching.ts";

const GROUP = 25;
/** A job whose texts may have more bytes after decompression is read alone. */
const SMALL_BYTES = 524_288;
/** A job whose payload or error has more bytes is not checked. */
const MAX_BYTES = 8 * 1_048_576;
/** confirm() returns after about this many bytes, even if candidates are left. */
const MAX_IN_ALL = 16 * 1_048_576;
const MAX_MS = 200;

export interface Confirmation {
  /** The candidates that match. */
  readonly ids: ReadonlySet<string>;
  /** The number of candidates whose texts are too large to check, or take too long to read. */
  readonly unchecked: number;
  /** The number of candidates, from the first on, that were handled; at least one if there are candidates. */
  readonly reached: number;
}

/** Checks the candidates `ids` in order, until MAX_IN_ALL or MAX_MS is reached. */
export async function confirm(
  db: Database,
  ids: readonly string[],
  { decide, marks, sql, values }: TextCheck,
): Promise<Confirmation> {
  const confirmed = new Set<string>();
  let unchecked = 0;
  let bytes = 0;
  const until = monotonic() + MAX_MS;
  const isOver = () => bytes >= MAX_IN_ALL || monotonic() >= until;
  const check = (row: TextsRow) => {
    bytes += (row.payload?.length ?? 0) + (row.last_error?.length ?? 0);
    if (row.is_large) unchecked += 1;
    else if (decide(row as CheckedTexts)) confirmed.add(row.id);
  };
  const read = (some: readonly string[], fits: string) =>
    query<TextsRow>(db, (schema) => textsSql(schema, fits, marks(2), sql(2)), [some, ...values]);
  const checkLarge = async (id: string) => {
    const rows = await nullOnTimeout(read([id], FITS_ALONE));
    if (rows === null) unchecked += 1;
    else rows.forEach(check);
    if (rows?.[0]?.is_large !== false) bytes += MAX_BYTES;
  };
  for (let at = 0; at < ids.length; at += GROUP) {
    const some = ids.slice(at, at + GROUP);
    const rows = new Map((await read(some, FITS_WITH_OTHERS)).map((row) => [row.id, row]));
    for (const [n, id] of some.entries()) {
      const row = rows.get(id);
      if (row?.is_large === true) await checkLarge(id);
      else if (row !== undefined) check(row);
      const reached = at + n + 1;
      if (reached < ids.length && isOver()) return { ids: confirmed, unchecked, reached };
    }
  }
  return { ids: confirmed, unchecked, reached: ids.length };
}

const ERROR_BYTES = "coalesce(pg_catalog.octet_length(jobs.last_error), 0)";
const FITS_WITH_OTHERS = `${worstBytes("jobs.payload")} + ${ERROR_BYTES} <= ${SMALL_BYTES}::bigint`;
/** Decompresses a payload that is stored in at most MAX_BYTES: only decompression shows the payload's size. */
const FITS_ALONE = `${isAtMost("jobs.payload", MAX_BYTES)} and ${ERROR_BYTES} <= ${MAX_BYTES}::int`;

interface TextsRow {
  readonly id: string;
  readonly payload: string | null;
  readonly last_error: string | null;
  readonly marks: string | null;
  readonly is_large: boolean;
}

// Marks (see JobQuery) may decompress a text, so they are selected only if the texts may be read. PostgreSQL rejects a
// statement that does not use all its parameters, and marks may use only some. So the query's condition, which uses all
// parameters, follows `true or`, where it has no effect.
const textsSql = (schema: string, fits: string, marks: string, condition: string) => `
  select texts.id, not texts.fits as is_large,
    case when texts.fits then ${marks} end as marks,
    case when texts.fits then jobs.payload::text end as payload,
    case when texts.fits then jobs.last_error end as last_error
  from (
    select jobs.id, (${fits}) as fits
    from ${schema}._private_jobs as jobs
    where jobs.id = any($1::bigint[])
    offset 0
  ) as texts
  join ${schema}._private_jobs as jobs on jobs.id = texts.id
  where true or ${condition}`;
