// What a line of an export may hold. Lines are made by PostgreSQL, a chunk as one text: a job as columns
// of its own would cost three times as much. Nothing here depends on the session's settings.
import { stateOf } from "../sql/job-state.ts";

/** A column's value in SQL, on the aliases `jobs`, `tasks` and `queues`. */
interface Column {
  /** JSON text, or null. */
  readonly json: string;
  /** Text, or null. */
  readonly csv: string;
}

// RFC 3339 ends with the year 9999; beyond it stands what is nearest, as everywhere on the wire.
const time = (column: string): Column => {
  const text = `case
      when jobs.${column} >= timestamptz '10000-01-01 00:00:00+00' then '9999-12-31T23:59:59.999Z'
      when jobs.${column} < timestamptz '0001-01-01 00:00:00+00' then '0001-01-01T00:00:00.000Z'
      else to_char(jobs.${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')
    end`;
  return { json: `'"' || (${text}) || '"'`, csv: text };
};

const number = (column: string): Column => ({
  json: `jobs.${column}::text`,
  csv: `jobs.${column}::text`,
});

/** What a spreadsheet would take for a formula begins with an apostrophe. */
const text = (expression: string): Column => ({
  json: `to_json(${expression})::text`,
  csv: `case when ${expression} ~ '^[-=+@\\t\\r]' then '''' || ${expression} else ${expression} end`,
});

/** Byte for byte; in a line of JSON, line breaks between its tokens become spaces. */
const json = (column: string): Column => ({
  json: `translate(jobs.${column}::text, chr(10) || chr(13), '  ')`,
  csv: `jobs.${column}::text`,
});

const boolean = (expression: string): Column => ({
  json: `(${expression})::text`,
  csv: `(${expression})::text`,
});

export const exportColumns = {
  id: number("id"),
  task_identifier: text("tasks.identifier"),
  queue_name: text("queues.queue_name"),
  payload: json("payload"),
  priority: number("priority"),
  run_at: time("run_at"),
  attempts: number("attempts"),
  max_attempts: number("max_attempts"),
  last_error: text("jobs.last_error"),
  created_at: time("created_at"),
  updated_at: time("updated_at"),
  key: text("jobs.key"),
  locked_at: time("locked_at"),
  locked_by: text("jobs.locked_by"),
  revision: number("revision"),
  flags: json("flags"),
  is_available: boolean("jobs.is_available"),
  state: text(`(${stateOf("jobs")})`),
} as const satisfies Record<string, Column>;

export type ExportColumn = keyof typeof exportColumns;
export const exportColumnNames = Object.keys(exportColumns) as readonly ExportColumn[];

export type ExportFormat = "jsonl" | "csv";

/** Where a payload that is too large for a chunk's text belongs in its line. */
export const PAYLOAD_MARK = "\u0001payload\u0001";

/** One line without its end. `isMarked`: with the mark in place of the payload. */
export function lineSql(
  columns: readonly ExportColumn[],
  format: ExportFormat,
  isMarked: boolean,
): string {
  const mark = `'${PAYLOAD_MARK}'`;
  const of = (name: ExportColumn) =>
    isMarked && name === "payload" ? { json: mark, csv: mark } : exportColumns[name];
  if (format === "csv") {
    return columns.map((name) => csvField(name, of(name).csv)).join(" || ',' || ");
  }
  const members = columns.map((name) => `'"${name}":' || coalesce(${of(name).json}, 'null')`);
  return `'{' || ${members.join(" || ',' || ")} || '}'`;
}

const plain: readonly ExportColumn[] = [
  ...(["id", "priority", "attempts", "max_attempts", "revision"] as const),
  ...(["run_at", "created_at", "updated_at", "locked_at", "is_available", "state"] as const),
];

/** Quoted wherever it may hold what has a meaning in CSV (RFC 4180); null is an empty field. */
function csvField(name: ExportColumn, expression: string): string {
  if (plain.includes(name)) return `coalesce(${expression}, '')`;
  return `coalesce('"' || replace(${expression}, '"', '""') || '"', '')`;
}

/** CSV has a line of names first. */
export function headOf(columns: readonly ExportColumn[], format: ExportFormat): string {
  return format === "csv" ? `${columns.join(",")}\r\n` : "";
}

export const lineEnd = (format: ExportFormat): string => (format === "csv" ? "\r\n" : "\n");
