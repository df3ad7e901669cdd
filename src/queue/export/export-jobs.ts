// Everything that matches a query as lines of text, in the order of ids: chunk after chunk, each by
// statements of its own of about 0.1 s, the next one only when somebody asks for it. No snapshot is
// held, and no more than one chunk; jobs that are added after the start are left out.
import type { Database, Statement } from "../../database/database.ts";
import { query } from "../../database/database.ts";
import { payloadPieces } from "../pages/job-size.ts";
import { compileQuery } from "../query/compile-query.ts";
import { jobNames } from "../sql/job-row.ts";
import { allOf, everyJob, type Matching, matchingOf } from "../walk/matching.ts";
import { segmentsOf } from "../walk/order.ts";
import { createPace, type Pace } from "../walk/pace.ts";
import { HIGHEST_ID, LOWEST_ID } from "../walk/step.ts";
import { walk } from "../walk/walk.ts";
import {
  type ExportColumn,
  type ExportFormat,
  headOf,
  lineEnd,
  lineSql,
  PAYLOAD_MARK,
} from "./columns.ts";
import type { ExportCursor } from "./export-cursor.ts";
import type { ExportRequest } from "./export-request.ts";

/** An export that was begun: what is fixed for all of it, and its text. */
export interface Export {
  /** To be put behind the id of the last line that arrived, for going on. */
  readonly boundary: ExportCursor;
  /** Text in pieces of a few megabytes at the most; ends early where `signal` aborts. */
  readonly pieces: (signal: AbortSignal) => AsyncGenerator<string | Buffer, void>;
  /** Lines that were given so far. */
  readonly lines: () => number;
  /** Jobs too large for the query to be decided. */
  readonly unchecked: () => number;
}

export interface ExportDatabases {
  /** For short statements. */
  readonly steps: Database;
  /** For payloads that take seconds to unpack. */
  readonly large: Database;
}

const JOBS_A_CHUNK = 5_000;
/** Lines of the first statement: how many take 0.1 s depends on their payloads. */
const FIRST_LINES = 500;
const WALK_MS = 100;

/** Throws InputError for a query that cannot be read. */
export async function exportJobs(
  databases: ExportDatabases,
  { q, format, columns, cursor }: ExportRequest,
): Promise<Export> {
  const db = databases.steps;
  const nowUs = cursor?.nowUs;
  const compiled =
    q.trim() === "" ? null : await compileQuery(db, q, nowUs == null ? {} : { nowUs });
  const maxId = cursor?.maxId ?? (await highestId(db));
  const matching = allOf([
    compiled === null ? everyJob : matchingOf(compiled),
    ...(maxId === HIGHEST_ID ? [] : [upTo(maxId)]),
  ]);
  const boundary = { after: cursor?.after ?? LOWEST_ID, maxId, nowUs: compiled?.nowUs ?? null };
  let lines = 0;
  let unchecked = 0;
  async function* pieces(signal: AbortSignal) {
    const head = cursor === null ? headOf(columns, format) : "";
    if (head !== "") yield head;
    const pace = createPace(FIRST_LINES);
    let after: string | null = boundary.after;
    let size = JOBS_A_CHUNK;
    while (after !== null && !signal.aborted) {
      const chunk = await nextIds(db, matching, after, size);
      unchecked += chunk.unchecked;
      size = chunk.size;
      for await (const text of linesOf(databases, chunk.ids, columns, format, pace)) {
        lines += text.lines;
        if (signal.aborted) return;
        yield text.text;
      }
      after = chunk.next;
    }
  }
  return { boundary, pieces, lines: () => lines, unchecked: () => unchecked };
}

function upTo(maxId: string): Matching {
  return {
    ...everyJob,
    sql: (first) => `(jobs.id <= $${first}::bigint)`,
    values: [maxId],
    isAll: false,
  };
}

async function highestId(db: Database): Promise<string> {
  const [row] = await query<{ id: string | null }>(db, highestSql);
  return row?.id ?? "0";
}

const highestSql: Statement = (schema) => `
  select max(jobs.id) as id from ${schema}._private_jobs as jobs`;

interface Ids {
  readonly ids: readonly string[];
  /** null: that was all. */
  readonly next: string | null;
  readonly unchecked: number;
  /** Rows to look at first, for the next ids. */
  readonly size: number;
}

async function nextIds(
  db: Database,
  matching: Matching,
  after: string,
  size: number,
): Promise<Ids> {
  if (matching.isEmpty) return { ids: [], next: null, unchecked: 0, size };
  const walked = await walk({
    db,
    matching,
    segments: segmentsOf("id", matching.shape, NO_FACTS),
    place: { segment: 0, position: { kind: "ids", after } },
    limit: JOBS_A_CHUNK,
    skip: 0,
    size,
    budgetMs: WALK_MS,
  });
  const position = walked.next?.position;
  const { unchecked } = walked;
  const next = position?.kind === "ids" ? position.after : null;
  const ids = walked.found.map(({ id }) => id);
  return { ids, next, unchecked, size: walked.size || JOBS_A_CHUNK };
}

const NO_FACTS = { priorities: null, indexes: new Set<string>() };

interface Lines {
  readonly text: string | Buffer;
  readonly lines: number;
}

/** The lines of jobs, as many in one statement as are about 4 MB. */
async function* linesOf(
  { steps, large }: ExportDatabases,
  ids: readonly string[],
  columns: readonly ExportColumn[],
  format: ExportFormat,
  pace: Pace,
): AsyncGenerator<Lines, void> {
  const withPayload = columns.includes("payload");
  const sql = (schema: string) => linesSql(schema, columns, format, withPayload);
  let left = ids;
  while (left.length > 0) {
    const { rows, asked } = (await pace.run(async (size) => {
      const some = left.slice(0, size);
      const values = [some, lineEnd(format)];
      return { rows: await query<LinesRow>(steps, sql, values), asked: some.length };
    })) ?? { rows: null, asked: 0 };
    if (rows === null) {
      const [id] = left;
      if (!pace.isBlocked || id === undefined) continue; // the same again, slower
      yield* largeLine({ steps, large }, id, columns, format);
      left = left.slice(1);
      continue;
    }
    const [row] = rows;
    if (row?.last == null) {
      left = left.slice(asked); // all of them are gone
      continue;
    }
    const done = left.indexOf(row.last) + 1;
    if (row.lines !== null) yield { text: row.lines, lines: Number(row.count) };
    else yield* largeLine({ steps, large }, row.last, columns, format);
    left = left.slice(done);
  }
}

interface LinesRow {
  /** null: the next job alone is too much for one text. */
  readonly lines: string | null;
  readonly count: string;
  readonly last: string | null;
}

/** What a chunk's text may weigh, and what compression can make of a byte, about. */
const MOST_BYTES = 4 * 1_048_576;
const MOST_UNPACKED = 100;

// The weight is what is known without unpacking anything: what is compressed counts as if it were much.
const linesSql = (
  schema: string,
  columns: readonly ExportColumn[],
  format: ExportFormat,
  withPayload: boolean,
) => `
  with weighed as (
    select jobs.id, ${withPayload ? PAYLOAD_WEIGHT : "0"}
      + coalesce(octet_length(jobs.last_error), 0)
      + coalesce(pg_column_size(jobs.flags), 0) + 200 as bytes
    from ${schema}._private_jobs as jobs
    where jobs.id = any($1::bigint[])
  ), summed as (
    select id, sum(bytes) over (order by id) as bytes, row_number() over (order by id) as place
    from weighed
  ), taken as (
    select id, bytes <= ${MOST_BYTES} as fits from summed
    where bytes <= ${MOST_BYTES} or place = 1
  )
  select string_agg(
      case when taken.fits then ${lineSql(columns, format, false)} || $2::text end,
      '' order by jobs.id
    ) as lines,
    count(*) as count, max(jobs.id) as last
  from taken
  join ${schema}._private_jobs as jobs on jobs.id = taken.id
  ${jobNames(schema)}`;

const PAYLOAD_WEIGHT = `pg_column_size(jobs.payload)::bigint
      * case when pg_column_compression(jobs.payload) is null then 1 else ${MOST_UNPACKED} end`;

/** A line whose payload comes in pieces. */
async function* largeLine(
  { large }: ExportDatabases,
  id: string,
  columns: readonly ExportColumn[],
  format: ExportFormat,
): AsyncGenerator<Lines, void> {
  const sql = (schema: string) => largeSql(schema, columns, format);
  const [row] = await query<{ line: string }>(large, sql, [id]);
  const payload = columns.includes("payload") ? await payloadPieces(large, id) : null;
  if (row === undefined) return;
  const [before = "", after] = row.line.split(PAYLOAD_MARK);
  yield { text: before, lines: 0 };
  if (payload !== null && after !== undefined) {
    for await (const piece of payload.pieces()) yield { text: inLine(piece, format), lines: 0 };
  }
  yield { text: `${after ?? ""}${lineEnd(format)}`, lines: 1 };
}

const largeSql = (schema: string, columns: readonly ExportColumn[], format: ExportFormat) => `
  select ${lineSql(columns, format, true)} as line
  from ${schema}._private_jobs as jobs
  ${jobNames(schema)}
  where jobs.id = $1::bigint`;

/** A part of a payload as it stands in a line: these bytes are never part of another character. */
function inLine(piece: Buffer, format: ExportFormat): Buffer | string {
  if (format === "csv")
    return Buffer.from(piece.toString("latin1").replaceAll('"', '""'), "latin1");
  for (const [at, byte] of piece.entries()) if (byte === 10 || byte === 13) piece[at] = 32;
  return piece;
}
