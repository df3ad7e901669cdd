// The cursor that continues an interrupted export: `<last id>[-<highest id>[-<now>]]`. A client of the API makes it
// from the id in the last whole line that it has received and from the header `x-export-boundary`, which contains the
// rest of the cursor.
import { InputError } from "../../base/errors.ts";
import { isJobId } from "../../domain/job-ids.ts";

export interface ExportCursor {
  /** The id of the last job that the client has received. */
  readonly after: string;
  /** The highest job id to include; null: the highest that exists now. */
  readonly maxId: string | null;
  /** The value of `now` in the query, in microseconds; null: there is no query, or the present time is used. */
  readonly nowUs: string | null;
}

/** Reads a cursor. Throws InputError. */
export function readExportCursor(text: string): ExportCursor {
  const [, after, maxId = null, nowUs = null] =
    /^(\d+)(?:-(\d+)(?:-(\d{1,17}))?)?$/.exec(text) ?? [];
  if (after === undefined || !isJobId(after) || (maxId !== null && !isId(maxId))) {
    const message =
      "must be the id of the last job received, followed by the x-export-boundary of that response";
    throw new InputError([{ path: "cursor", message }]);
  }
  return { after, maxId, nowUs };
}

/** Returns the part of the cursor after the last id, with its leading hyphen. */
export function boundaryText({ maxId, nowUs }: ExportCursor): string {
  return `-${maxId ?? "0"}${nowUs === null ? "" : `-${nowUs}`}`;
}

const isId = (text: string) => text === "0" || isJobId(text);
