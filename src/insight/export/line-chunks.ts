// The lines of jobs, as many in one statement as are about a megabyte of text, each job looked at once.
// A chunk ends before the job whose texts may not fit: how much a compressed payload unpacks to is not
// known before it is unpacked.
import { type Database, query } from "../../database/database.ts";
import { jobNames } from "../../queue/sql/job-row.ts";
import { isPacked, worstBytes } from "../../queue/sql/unpacked.ts";
import { idAfter } from "../walk/id-walk.ts";
import { createPace } from "../walk/pace.ts";
import { type ExportColumn, type ExportFormat, lineSql } from "./columns.ts";

export interface LineFormat {
  readonly columns: readonly ExportColumn[];
  readonly format: ExportFormat;
}

/** Which jobs: the next ones by id up to one, or those of a list, in order. */
export type Selection =
  | { readonly kind: "range"; readonly after: string; readonly upTo: string }
  | { readonly kind: "ids"; readonly ids: readonly string[] };

export interface LineChunk {
  /** null: the job `last` alone is too large for a text. Empty: nothing matches up to there. */
  readonly text: string | null;
  readonly lines: number;
  /** The id of the last job in it. */
  readonly last: string;
}

export interface LineChunks {
  /** The lines of the first jobs of a selection; null: it has none, or none any more. */
  next(selection: Selection): Promise<LineChunk | null>;
}

/** A chunk's text: as little as costs no speed, because a reader that is slow holds two of them. */
const WANTED_BYTES = 1_048_576;
/** What a chunk may weigh, and what a job that is alone in it may. */
const MOST_BYTES = 2 * 1_048_576;
const MOST_ALONE = 4 * 1_048_576;
/** What a line may have beside its payload and its error. */
const LINE_BYTES = 500;
/** Of what a packed payload may be at the worst, what is taken for its size at least. */
const LEAST_SHARE = 1 / 8;
/** How many take 0.1 s depends on their payloads. */
const FIRST_LINES = 500;

export function createLineChunks(db: Database, format: LineFormat): LineChunks {
  const pace = createPace(FIRST_LINES);
  let most = FIRST_LINES;
  let share = 1;

  const learn = (asked: number, { text, lines }: Omit<LineChunk, "last">) => {
    if (text === null) return;
    // Twice as many as before at the most: the next ones may be larger.
    most = Math.ceil(lines * Math.min(2, WANTED_BYTES / text.length));
    const isCut = lines < asked;
    if (text.length > MOST_BYTES) share = 1;
    else if (isCut && text.length < WANTED_BYTES / 2) share = Math.max(LEAST_SHARE, share / 2);
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
        if (!pace.isBlocked) continue; // the same again, slower
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
  /** null: the first job alone is too much for one text, or there is none. */
  readonly lines: string | null;
  readonly count: string;
  readonly last: string | null;
  /** null: there is none. */
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

/** The weight is what is known without unpacking anything: what is compressed counts as if it were much. */
const payloadWeight = (parameter: number) => `(${worstBytes("jobs.payload")})::float8
          * case when ${isPacked("jobs.payload")} then $${parameter}::float8 else 1::float8 end`;

// Only what fits is unpacked.
const linesSql = (schema: string, line: string, payload: string, where: string) => `
  select pg_catalog.string_agg(${line}, '' order by jobs.id) filter (where jobs.fits) as lines,
    pg_catalog.count(*) filter (where jobs.fits) as count,
    pg_catalog.max(jobs.id) filter (where jobs.fits) as last,
    pg_catalog.min(jobs.id) as first
  from (
    select weighed.*, weighed.total <= ${MOST_BYTES}::float8
      or (weighed.total = weighed.bytes and weighed.bytes <= ${MOST_ALONE}::float8) as fits
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
