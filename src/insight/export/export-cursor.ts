// The cursor that continues an interrupted export: `<last id>[-<highest id>[-<now>]]`. The response header
// `x-export-boundary` contains everything after the last id. A client of the API appends the text of this header to
// the id in the last complete line that the client has received.
import { InputError } from "../../base/errors.ts";
import { isJobId } from "../../domain/job-ids.ts";

export interface ExportCursor {
  /** The id of the last job that the client has received. */
  readonly after: string;
  /** The highest job id to include; null: the highest id that exists when the export continues. */
  readonly maxId: string | null;
  /**
   * The time that the query uses as `now`, in microseconds since 1970; null: the present time, or there is no query.
   */
  readonly nowUs: string | null;
}

/** Reads a cursor. Throws InputError if the text is not a cursor. */
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
