// Exports all jobs that match a query as lines of text, ordered by id. No snapshot stays open between statements. Jobs
// with ids above the highest id at the start of the export are not included.
import type { Database, Statement } from "../../database/database.ts";
import { query } from "../../database/database.ts";
import { compileQuery } from "../query/compile-query.ts";
import { matchingOf } from "../walk/matching.ts";
import { MIN_ID } from "../walk/step.ts";
import { headOf } from "./columns.ts";
import { boundaryText, type ExportCursor } from "./export-cursor.ts";
import type { ExportRequest } from "./export-request.ts";
import { allChunks, matchingChunks } from "./found-chunks.ts";
import { largeLine } from "./large-line.ts";
import { createLineChunks } from "./line-chunks.ts";
import { readAhead } from "./read-ahead.ts";

/** An export that has begun. */
export interface Export {
  /**
   * The range of ids and the time `now` of the query, both fixed for the whole export. The cursor that continues an
   * interrupted export is the id in the last received line, followed by boundaryText() of this boundary.
   */
  readonly boundary: ExportCursor;
  /** Terms of the query with names or error groups that do not exist. */
  readonly unknown: readonly string[];
  /**
   * Yields the text of the export in pieces, usually of at most a few megabytes, and empty pieces while no matching
   * job is found. Ends early when `signal` aborts.
   */
  readonly pieces: (signal: AbortSignal) => AsyncGenerator<string | Buffer, void>;
  /** Returns how far the export has come. A piece counts as exported when the next piece is requested. */
  readonly progress: () => ExportProgress;
}

export interface ExportProgress {
  readonly lines: number;
  /** The number of jobs left out because they were too large or too slow to be compared with the query. */
  readonly unchecked: number;
  /**
   * The cursor after the last job that was exported completely, or that the search has passed. Before the first such
   * job: the cursor with which the export began, or null.
   */
  readonly cursor: string | null;
  /** Whether only a part of the last line has been exported. */
  readonly isInLine: boolean;
}

export interface ExportDatabases {
  /** The database for short statements. */
  readonly steps: Database;
  /** The database for payloads that take seconds to decompress. */
  readonly large: Database;
}

/** Begins an export. Throws InputError for an invalid query. */
export async function exportJobs(
  { steps, large }: ExportDatabases,
  { q, format, columns, cursor }: ExportRequest,
): Promise<Export> {
  const nowUs = cursor?.nowUs;
  const compiled =
    q.trim() === "" ? null : await compileQuery(steps, q, nowUs == null ? {} : { nowUs });
  const maxId = cursor?.maxId ?? (await highestId(steps));
  const boundary = { after: cursor?.after ?? MIN_ID, maxId, nowUs: compiled?.nowUs ?? null };
  const cursorAfter = (id: string) => `${id}${boundaryText(boundary)}`;
  let reached = cursor === null ? null : cursorAfter(cursor.after);
  let [lines, unchecked, isInLine] = [0, 0, false];

  async function* pieces(signal: AbortSignal) {
    const head = cursor === null ? headOf(columns, format) : "";
    if (head !== "") yield head;
    const chunks = createLineChunks(steps, { columns, format });
    const range = { after: boundary.after, upTo: maxId };
    const found =
      compiled === null
        ? allChunks(chunks, range)
        : matchingChunks(steps, chunks, matchingOf(compiled), range, {
            signal,
            onUnchecked: (more) => {
              unchecked += more;
            },
          });
    for await (const chunk of readAhead(found)) {
      if (signal.aborted) return;
      if (chunk.text !== null) {
        yield chunk.text;
        lines += chunk.lines;
        reached = cursorAfter(chunk.last);
        continue;
      }
      for await (const piece of largeLine(large, chunk.last, { columns, format })) {
        yield piece;
        isInLine = true;
        if (signal.aborted) return;
      }
      if (isInLine) lines += 1;
      isInLine = false;
      reached = cursorAfter(chunk.last);
    }
  }
  const unknown = compiled?.unknown ?? [];
  return {
    boundary,
    unknown,
    pieces,
    progress: () => ({ lines, unchecked, cursor: reached, isInLine }),
  };
}

async function highestId(db: Database): Promise<string> {
  const [row] = await query<{ id: string | null }>(db, highestSql);
  return row?.id ?? "0";
}

const highestSql: Statement = (schema) => `
  select pg_catalog.max(jobs.id) as id from ${schema}._private_jobs as jobs`;
