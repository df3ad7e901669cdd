// The cursor that continues an interrupted export: `<last id>`, or `<last id>-<highest id>-<now>` with the boundary
// fixed at its start. The reader combines the last whole line with that boundary.
import { InputError } from "../../base/errors.ts";
import { isJobId } from "../../domain/job-ids.ts";

export interface ExportCursor {
  /** The id of the last job received. */
  readonly after: string;
  /** The highest id to include; null: the present highest. */
  readonly maxId: string | null;
  /** The value of `now` in the query, microseconds; null: unused, or the present time. */
  readonly nowUs: string | null;
}

/** Throws InputError. */
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

/** The part of the cursor after the last id. */
export function boundaryText({ maxId, nowUs }: ExportCursor): string {
  return `-${maxId ?? "0"}${nowUs === null ? "" : `-${nowUs}`}`;
}

const isId = (text: string) => text === "0" || isJobId(text);
