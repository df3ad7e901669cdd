// Everything that matches a query as lines of text, in the order of ids: chunk after chunk, each by
// statements of its own of less than 0.1 s, one chunk ahead of who reads. No snapshot is held, and no
// more than two chunks; jobs that are added after the start are left out.
import type { Database, Statement } from "../../database/database.ts";
import { query } from "../../database/database.ts";
import { compileQuery } from "../query/compile-query.ts";
import { matchingOf } from "../walk/matching.ts";
import { LOWEST_ID } from "../walk/step.ts";
import { ahead } from "./ahead.ts";
import { headOf } from "./columns.ts";
import { boundaryText, type ExportCursor } from "./export-cursor.ts";
import type { ExportRequest } from "./export-request.ts";
import { everything, matches } from "./found-chunks.ts";
import { largeLine } from "./large-line.ts";
import { createLineChunks } from "./line-chunks.ts";

/** An export that was begun: what is fixed for all of it, and its text. */
export interface Export {
  /** To be put behind the id of the last line that arrived, for going on. */
  readonly boundary: ExportCursor;
  /** Names in the query that nothing has, such as `task:nobody`. */
  readonly unknown: readonly string[];
  /**
   * Text in pieces of a few megabytes at the most, and an empty one where nothing is found for a while;
   * ends early where `signal` aborts.
   */
  readonly pieces: (signal: AbortSignal) => AsyncGenerator<string | Buffer, void>;
  /** What of it was taken so far, and where to go on. */
  readonly progress: () => ExportProgress;
}

export interface ExportProgress {
  readonly lines: number;
  /** Jobs too large for the query to be decided. */
  readonly unchecked: number;
  /** Goes on behind the last whole line; null: there is none. */
  readonly cursor: string | null;
  /** A part of a line follows those that are whole. */
  readonly isInLine: boolean;
}

export interface ExportDatabases {
  /** For short statements. */
  readonly steps: Database;
  /** For payloads that take seconds to unpack. */
  readonly large: Database;
}

/** Throws InputError. */
export async function exportJobs(
  { steps, large }: ExportDatabases,
  { q, format, columns, cursor }: ExportRequest,
): Promise<Export> {
  const nowUs = cursor?.nowUs;
  const compiled =
    q.trim() === "" ? null : await compileQuery(steps, q, nowUs == null ? {} : { nowUs });
  const maxId = cursor?.maxId ?? (await highestId(steps));
  const boundary = { after: cursor?.after ?? LOWEST_ID, maxId, nowUs: compiled?.nowUs ?? null };
  const behind = (id: string) => `${id}${boundaryText(boundary)}`;
  let place = cursor === null ? null : behind(cursor.after);
  let [lines, unchecked, isInLine] = [0, 0, false];

  async function* pieces(signal: AbortSignal) {
    const head = cursor === null ? headOf(columns, format) : "";
    if (head !== "") yield head;
    const chunks = createLineChunks(steps, { columns, format });
    const range = { after: boundary.after, upTo: maxId };
    const found =
      compiled === null
        ? everything(chunks, range)
        : matches(steps, chunks, matchingOf(compiled), range, {
            signal,
            onUnchecked: (more) => {
              unchecked += more;
            },
          });
    for await (const chunk of ahead(found)) {
      if (signal.aborted) return;
      if (chunk.text !== null) {
        lines += chunk.lines;
        place = behind(chunk.last);
        yield chunk.text;
        continue;
      }
      for await (const piece of largeLine(large, chunk.last, { columns, format })) {
        isInLine = true;
        yield piece;
        if (signal.aborted) return;
      }
      if (isInLine) lines += 1;
      isInLine = false;
      place = behind(chunk.last);
    }
  }
  const unknown = compiled?.unknown ?? [];
  return {
    boundary,
    unknown,
    pieces,
    progress: () => ({ lines, unchecked, cursor: place, isInLine }),
  };
}

async function highestId(db: Database): Promise<string> {
  const [row] = await query<{ id: string | null }>(db, highestSql);
  return row?.id ?? "0";
}

const highestSql: Statement = (schema) => `
  select pg_catalog.max(jobs.id) as id from ${schema}._private_jobs as jobs`;
