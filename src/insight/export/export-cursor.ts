// Where an export that broke off goes on: `<last id>`, or `<last id>-<highest id>-<now>` with what was
// fixed at its start. The reader makes it of the last whole line and of what it was told at the start.
import { InputError } from "../../base/errors.ts";
import { isJobId } from "../../domain/job-ids.ts";

export interface ExportCursor {
  /** The id of the last job that arrived. */
  readonly after: string;
  /** No job beyond it; null: the highest one now. */
  readonly maxId: string | null;
  /** What `now` means in the query, microseconds; null: in none, or now. */
  readonly nowUs: string | null;
}

/** Throws InputError. */
export function readExportCursor(text: string): ExportCursor {
  const [, after, maxId = null, nowUs = null] =
    /^(\d+)(?:-(\d+)(?:-(\d{1,17}))?)?$/.exec(text) ?? [];
  if (after === undefined || !isJobId(after) || (maxId !== null && !isId(maxId))) {
    const message =
      "must be the id of the last job that arrived, followed by the x-export-boundary of that answer";
    throw new InputError([{ path: "cursor", message }]);
  }
  return { after, maxId, nowUs };
}

/** What belongs behind the last id. */
export function boundaryText({ maxId, nowUs }: ExportCursor): string {
  return `-${maxId ?? "0"}${nowUs === null ? "" : `-${nowUs}`}`;
}

const isId = (text: string) => text === "0" || isJobId(text);
