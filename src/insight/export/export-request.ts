// The validated options of an export.
import { InputError } from "../../base/errors.ts";
import { didYouMean } from "../../base/validate.ts";
import { parseQuery } from "../../domain/query/parse-query.ts";
import { type ExportColumn, type ExportFormat, exportColumnNames } from "./columns.ts";
import { type ExportCursor, readExportCursor } from "./export-cursor.ts";

export interface ExportRequest {
  readonly q: string;
  readonly format: ExportFormat;
  readonly columns: readonly ExportColumn[];
  /** Where an interrupted export continues; null: it begins with the first job. */
  readonly cursor: ExportCursor | null;
}

export interface GivenExport {
  /** The query. Empty: all jobs. */
  readonly q?: string | undefined;
  /** The format. Default `jsonl`. */
  readonly format?: ExportFormat | undefined;
  /** The names of the columns, separated by commas. Empty: all columns, but `payload` only if `withPayload` is set. */
  readonly columns?: string | undefined;
  /** Whether the payload is included if no columns are named. */
  readonly withPayload?: boolean | undefined;
  readonly cursor?: string | undefined;
}

/** Checks the options. Throws InputError. */
export function exportRequest(given: GivenExport): ExportRequest {
  const { q = "", format = "jsonl", columns = "", withPayload = false, cursor = "" } = given;
  // Rejects an invalid query before the export begins.
  parseQuery(q);
  return {
    q,
    format,
    columns: columnsOf(columns, withPayload),
    cursor: cursor === "" ? null : readExportCursor(cursor),
  };
}

function columnsOf(typed: string, withPayload: boolean): readonly ExportColumn[] {
  if (typed.trim() === "") {
    return exportColumnNames.filter((name) => withPayload || name !== "payload");
  }
  const names = typed.split(",").map((name) => name.trim());
  const unknown = names.find((name) => !isColumn(name));
  if (unknown !== undefined) {
    const hint = didYouMean(unknown, exportColumnNames);
    const message = `unknown column ${unknown.slice(0, 64)}${hint}; the columns are ${exportColumnNames.join(", ")}`;
    throw new InputError([{ path: "columns", message }]);
  }
  if (new Set(names).size < names.length) {
    throw new InputError([{ path: "columns", message: "names a column twice" }]);
  }
  return names.filter(isColumn);
}

const isColumn = (name: string): name is ExportColumn =>
  (exportColumnNames as readonly string[]).includes(name);
