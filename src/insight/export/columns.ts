// The columns of an export, and the SQL of its lines. PostgreSQL builds the lines, because reading separate columns
// would take three times as long.
import { stateOf } from "../../queue/sql/job-state.ts";

/** SQL expressions for the value of a column. They use the aliases `jobs`, `tasks` and `queues`, and are never null. */
interface Column {
  /** The value as JSON text. If `isQuoted`, the text has no quotation marks, and lineSql() adds them. */
  readonly json: string;
  readonly isQuoted?: boolean;
  /** The value as a CSV field (RFC 4180); for SQL null, an empty field. */
  readonly csv: string;
}

const number = (column: string): Column => ({
  json: `jobs.${column}::text`,
  csv: `jobs.${column}::text`,
});

const orNull = (expression: string) => `coalesce(${expression}, 'null')`;
const orEmpty = (expression: string) => `coalesce(${expression}, '')`;

// Times outside the years 1 to 9999 are clamped, because the year of an RFC 3339 time has four digits.
const timeText = (column: string) => `case
      when jobs.${column} >= timestamptz '10000-01-01 00:00:00+00' then '9999-12-31T23:59:59.999Z'
      when jobs.${column} < timestamptz '0001-01-01 00:00:00+00' then '0001-01-01T00:00:00.000Z'
      else pg_catalog.to_char(jobs.${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')
    end`;

const time = (column: string): Column => ({
  json: timeText(column),
  isQuoted: true,
  csv: timeText(column),
});

const timeOrNull = (column: string): Column => ({
  json: orNull(`'"' || ${timeText(column)} || '"'`),
  csv: orEmpty(timeText(column)),
});

/** The codes of tab, carriage return, + - = @. Spreadsheets treat text that begins with one of these as a formula. */
const OF_FORMULAS = "(9, 13, 43, 45, 61, 64)";

const text = (expression: string): Column => ({
  json: orNull(`pg_catalog.to_json(${expression})::text`),
  csv: csvField(
    `case when pg_catalog.ascii(${expression}) in ${OF_FORMULAS} then '''' || ${expression} else ${expression} end`,
  ),
});

/** A column of JSON, byte for byte. In JSON lines, each line break between tokens becomes a space. */
const json = (column: string): Column => ({
  json: orNull(
    `pg_catalog.replace(pg_catalog.replace(${bytes(`jobs.${column}::text`)}, pg_catalog.chr(10), ' '), pg_catalog.chr(13), ' ')`,
  ),
  csv: csvField(`jobs.${column}::text`),
});

function csvField(expression: string): string {
  return orEmpty(`'"' || pg_catalog.replace(${bytes(expression)}, '"', '""') || '"'`);
}

/** With the collation C, replace() compares bytes, and takes a third of the time. */
function bytes(expression: string): string {
  return `(${expression}) collate "C"`;
}

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
  locked_at: timeOrNull("locked_at"),
  locked_by: text("jobs.locked_by"),
  revision: number("revision"),
  flags: json("flags"),
  is_available: { json: "jobs.is_available::text", csv: "jobs.is_available::text" },
  state: { json: stateOf("jobs"), isQuoted: true, csv: stateOf("jobs") },
} as const satisfies Record<string, Column>;

export type ExportColumn = keyof typeof exportColumns;
export const exportColumnNames = Object.keys(exportColumns) as readonly ExportColumn[];

export type ExportFormat = "jsonl" | "csv";

/** Returns SQL for one line with its line break. `payload`: SQL for a text that replaces the payload. */
export function lineSql(
  columns: readonly ExportColumn[],
  format: ExportFormat,
  payload?: string,
): string {
  const of = (name: ExportColumn): Column =>
    payload !== undefined && name === "payload"
      ? { json: payload, csv: csvField(payload) }
      : exportColumns[name];
  const parts = columns.flatMap((name, at) => {
    if (format === "csv") return at === 0 ? [of(name).csv] : ["','", of(name).csv];
    const { json, isQuoted = false } = of(name);
    const before = columns[at - 1];
    const end = before === undefined ? "{" : of(before).isQuoted ? '",' : ",";
    return [`'${end}"${name}":${isQuoted ? '"' : ""}'`, json];
  });
  const last = columns.at(-1);
  const isOpen = format === "jsonl" && last !== undefined && of(last).isQuoted;
  const end = format === "csv" ? "\\r\\n" : isOpen ? '"}\\n' : "}\\n";
  return concatenate([...parts, `e'${end}'`]);
}

/**
 * Joins SQL expressions with ||, in halves. If the expressions were joined from left to right, PostgreSQL would copy
 * the beginning of a line up to forty times.
 */
function concatenate(texts: readonly string[]): string {
  if (texts.length < 2) return texts.join();
  const middle = texts.length >> 1;
  return `(${concatenate(texts.slice(0, middle))} || ${concatenate(texts.slice(middle))})`;
}

/** Returns the line before the jobs; for JSON lines, an empty text. */
export function headOf(columns: readonly ExportColumn[], format: ExportFormat): string {
  return format === "csv" ? `${columns.join(",")}\r\n` : "";
}
