// Reads the lines of an export in chunks of about a megabyte, each with one statement. A chunk ends before the first
// job that may not fit. The size of a compressed payload is only estimated.
import { type Database, query } from "../../database/database.ts";
import { isPacked, worstBytes } from "../../database/unpacked.ts";
import { jobNames } from "../../queue/sql/job-row.ts";
import { idAfter } from "../walk/id-walk.ts";
import { createPace } from "../walk/pace.ts";
import { type ExportColumn, type ExportFormat, lineSql } from "./columns.ts";

export interface LineFormat {
  readonly columns: readonly ExportColumn[];
  readonly format: ExportFormat;
}

/** The jobs with ids greater than `after` and at most `upTo`, or the jobs with the listed ids, which are ascending. */
export type Selection =
  | { readonly kind: "range"; readonly after: string; readonly upTo: string }
  | { readonly kind: "ids"; readonly ids: readonly string[] };

export interface LineChunk {
  /**
   * The lines; empty if a search has found no match up to `last`. Null if the job `last` is too large for a chunk, or
   * if its read timed out: then the caller reads this job with large-line.ts.
   */
  readonly text: string | null;
  readonly lines: number;
  /** The id of the last job that the chunk covers, with or without a line. */
  readonly last: string;
}

export interface LineChunks {
  /** Returns a chunk with the first jobs of a selection; null if no job of the selection exists. */
  next(selection: Selection): Promise<LineChunk | null>;
}

/**
 * The intended size of a chunk, in bytes. Smaller chunks would make an export slower. Larger chunks would need more
 * memory.
 */
const WANTED_BYTES = 1_048_576;
/** The upper limit of the estimated size of a chunk with several jobs, in bytes. */
const MAX_BYTES = 2 * 1_048_576;
/** The upper limit of the estimated size of a job that is alone in its chunk, in bytes. */
const MAX_ALONE = 4 * 1_048_576;
/** The estimated size of a line without its payload, error and flags. */
const LINE_BYTES = 500;
/** The smallest estimate for a compressed payload, as a share of the largest size that the payload can have. */
const MIN_SHARE = 1 / 8;
const FIRST_LINES = 500;

export function createLineChunks(db: Database, format: LineFormat): LineChunks {
  const pace = createPace(FIRST_LINES);
  let most = FIRST_LINES;
  let share = 1;

  const learn = (selection: number, { text, lines }: Omit<LineChunk, "last">) => {
    if (text === null) return;
    const bytes = Buffer.byteLength(text);
    // The next chunk has at most twice as many lines, because its jobs may be larger.
    most = Math.ceil(lines * Math.min(2, WANTED_BYTES / bytes));
    const isCut = lines < selection;
    if (bytes > MAX_BYTES) share = 1;
    else if (isCut && bytes < WANTED_BYTES / 2) share = Math.max(MIN_SHARE, share / 2);
  };

  return {
    async next(selection) {
      for (;;) {
        const chunk = await pace.run(async (size) => {
          const { count, last, first, lines } = await readLines(db, format, selection, size, share);
          if (first === null) return "end";
          const found = { text: lines, lines: Number(count), last: last ?? first };
          learn(size, found);
          return found;
        }, most);
        if (chunk === "end") return null;
        if (chunk !== null) return chunk;
        if (!pace.isBlocked) continue; // again, with fewer lines
        const last = await firstOf(db, selection);
        return last === null ? null : { text: null, lines: 0, last };
      }
    },
  };
}

async function firstOf(db: Database, selection: Selection): Promise<string | null> {
  if (selection.kind === "ids") return selection.ids[0] ?? null;
  const id = await idAfter(db, selection.after, false, 1);
  return id === null || BigInt(id) > BigInt(selection.upTo) ? null : id;
}

interface LinesRow {
  /** The text of the lines; null if the first job alone is too large for a chunk, or if there is no job. */
  readonly lines: string | null;
  readonly count: string;
  readonly last: string | null;
  readonly first: string | null;
}

async function readLines(
  db: Database,
  { columns, format }: LineFormat,
  selection: Selection,
  size: number,
  share: number,
): Promise<LinesRow> {
  const [where, values] =
    selection.kind === "ids"
      ? ["jobs.id = any($2::bigint[])", [selection.ids]]
      : ["jobs.id > $2::bigint and jobs.id <= $3::bigint", [selection.after, selection.upTo]];
  const hasPayload = columns.includes("payload");
  const payload = hasPayload ? payloadWeight(values.length + 2) : "0::float8";
  const line = lineSql(columns, format);
  const sql = (schema: string) => linesSql(schema, line, payload, where);
  const [row] = await query<LinesRow>(db, sql, [size, ...values, ...(hasPayload ? [share] : [])]);
  return row ?? { lines: null, count: "0", last: null, first: null };
}

/** Returns SQL for the estimated size of a payload. `parameter`: the number of the parameter with the share. */
const payloadWeight = (parameter: number) => `(${worstBytes("jobs.payload")})::float8
          * case when ${isPacked("jobs.payload")} then $${parameter}::float8 else 1::float8 end`;

// The filters keep PostgreSQL from decompressing the payloads of jobs that do not fit into the chunk.
const linesSql = (schema: string, line: string, payload: string, where: string) => `
  select pg_catalog.string_agg(${line}, '' order by jobs.id) filter (where jobs.fits) as lines,
    pg_catalog.count(*) filter (where jobs.fits) as count,
    pg_catalog.max(jobs.id) filter (where jobs.fits) as last,
    pg_catalog.min(jobs.id) as first
  from (
    select weighed.*, weighed.total <= ${MAX_BYTES}::float8
      or (weighed.total = weighed.bytes and weighed.bytes <= ${MAX_ALONE}::float8) as fits
    from (
      select jobs.*, pg_catalog.sum(jobs.bytes) over (order by jobs.id rows unbounded preceding) as total
      from (
        select jobs.*, (${payload}
          + coalesce(pg_catalog.octet_length(jobs.last_error), 0)::float8
          + coalesce(${worstBytes("jobs.flags")}, 0)::float8 + ${LINE_BYTES}::float8) as bytes
        from ${schema}._private_jobs as jobs
        where ${where}
        order by jobs.id
        limit $1::bigint
      ) as jobs
    ) as weighed
  ) as jobs
  ${jobNames(schema)}`;
