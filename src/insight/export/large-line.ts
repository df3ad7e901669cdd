// Reads one line of an export in pieces: the part before the payload, the payload in several parts, and the part after
// the payload. This is done for a job that is too large for a chunk, or whose read for a chunk timed out
// (line-chunks.ts).
import { randomUUID } from "node:crypto";
import { type Database, query } from "../../database/database.ts";
import { jobNames } from "../../queue/sql/job-row.ts";
import { payloadPieces } from "../pages/job-size.ts";
import { type ExportFormat, lineSql } from "./columns.ts";
import type { LineFormat } from "./line-chunks.ts";

/** The text that PostgreSQL puts into the line instead of the payload. It is random, so no other column contains it. */
const MARK = `\u0001${randomUUID()}\u0001`;

/**
 * Yields the pieces of the line. If the job does not exist, yields nothing. Throws if the payload changes, or the job
 * is deleted, while the payload is read. `db`: a database whose time limit permits statements of some seconds.
 */
export async function* largeLine(
  db: Database,
  id: string,
  { columns, format }: LineFormat,
): AsyncGenerator<string | Buffer, void> {
  const hasPayload = columns.includes("payload");
  const sql = (schema: string) => largeSql(schema, { columns, format });
  const [row] = await query<{ line: string }>(db, sql, hasPayload ? [id, MARK] : [id]);
  const payload = hasPayload ? await payloadPieces(db, id) : null;
  if (row === undefined || (hasPayload && payload === null)) return;
  const [before = "", after = ""] = row.line.split(MARK);
  yield before;
  if (payload === null) return;
  for await (const piece of payload.pieces()) yield inLine(piece, format);
  yield after;
}

const largeSql = (schema: string, { columns, format }: LineFormat) => `
  select ${lineSql(columns, format, "$2::text")} as line
  from ${schema}._private_jobs as jobs
  ${jobNames(schema)}
  where jobs.id = $1::bigint`;

const [LF, CR, SPACE, QUOTE] = [10, 13, 32, 34];

/**
 * Returns a piece of a payload as it appears in a line: without line breaks in JSON, with doubled quotes in CSV. The
 * replaced bytes are ASCII, so they are never part of another character in UTF-8.
 */
function inLine(piece: Buffer, format: ExportFormat): Buffer {
  if (format === "csv") return withDoubleQuotes(piece);
  for (let at = 0; at < piece.length; at++) {
    const byte = piece[at];
    if (byte === LF || byte === CR) piece[at] = SPACE;
  }
  return piece;
}

function withDoubleQuotes(piece: Buffer): Buffer {
  let quotes = 0;
  for (let at = 0; at < piece.length; at++) if (piece[at] === QUOTE) quotes++;
  const doubled = Buffer.allocUnsafe(piece.length + quotes);
  let end = 0;
  for (let at = 0; at < piece.length; at++) {
    const byte = piece[at] as number;
    doubled[end++] = byte;
    if (byte === QUOTE) doubled[end++] = byte;
  }
  return doubled;
}
