// Passes a batch of jobs to a statement. Each column is one parameter, which has the values of all jobs.
import type { ResolvedJob } from "../../domain/job-spec.ts";
import { PAYLOAD_SEPARATOR } from "../../domain/payload.ts";

interface Column {
  readonly type: string;
  of(spec: ResolvedJob): string | number | null;
  /**
   * Replaces null in the array: if PostgreSQL's array_nulls is off, a null would become a text. No job has this value,
   * except the priority 0, which is the default.
   */
  readonly none: string | number;
}

/** The columns besides the payload that a batch can have. */
export type GivenColumn =
  | "identifier"
  | "queue_name"
  | "run_at"
  | "max_attempts"
  | "priority"
  | "flags";

/** The columns in the order of their parameters. */
const COLUMNS: Readonly<Record<GivenColumn, Column>> = {
  identifier: { type: "text", of: (spec) => spec.identifier, none: "" },
  queue_name: { type: "text", of: (spec) => spec.queueName, none: "" },
  run_at: { type: "text[]::timestamptz", of: (spec) => spec.runAt, none: "infinity" },
  max_attempts: { type: "smallint", of: (spec) => spec.maxAttempts, none: 0 },
  priority: { type: "smallint", of: (spec) => spec.priority, none: 0 },
  flags: { type: "text", of: flagsText, none: "" },
};

export const ALL_COLUMNS = Object.keys(COLUMNS) as readonly GivenColumn[];

/** Returns the columns in which some job has a value; `identifier` only if the jobs have different identifiers. */
export function columnsOf(specs: readonly ResolvedJob[]): GivenColumn[] {
  const first = specs[0]?.identifier;
  return ALL_COLUMNS.filter((column) =>
    column === "identifier"
      ? specs.some(({ identifier }) => identifier !== first)
      : specs.some((spec) => COLUMNS[column].of(spec) !== null),
  );
}

/** Returns the parameters: $1 the payloads, $2 their number, $3 … an array for each column. */
export function givenValues(
  specs: readonly ResolvedJob[],
  columns: readonly GivenColumn[],
): unknown[] {
  return [
    // A single text avoids the escapes that the texts of an array need.
    specs.map(({ payload }) => payload).join(PAYLOAD_SEPARATOR),
    specs.length,
    ...columns.map((column) => {
      const { of, none } = COLUMNS[column];
      return specs.map((spec) => of(spec) ?? none);
    }),
  ];
}

/** Returns the flags as they are stored: `{"name": true}`. */
export function flagsText({ flags }: ResolvedJob): string | null {
  if (flags === null || flags.length === 0) return null;
  return `{${flags.map((flag) => `${JSON.stringify(flag)}:true`).join(",")}}`;
}

// The run_at of a job without a given time: each job of a batch has its own microsecond, in order. The last job has
// now(), so that no time is in the future.
const SPREAD = "pg_catalog.now() - ($2::int - n)::float8 * interval '1 microsecond'";

/** Returns a select with one row for each job. `n`: the job's number, from 1. */
export function givenRows(columns: readonly GivenColumn[]): string {
  const arrays = columns.map((column, place) => `$${place + 3}::${COLUMNS[column].type}[]`);
  const payloads = "pg_catalog.string_to_array($1::text, E'\\x1f')";
  const given = (column: GivenColumn) => {
    const { type, none } = COLUMNS[column];
    return `nullif(${column}, '${none}'::${type.split("::").at(-1)})`;
  };
  const or = (column: GivenColumn, otherwise: string) =>
    columns.includes(column) ? `coalesce(${given(column)}, ${otherwise})` : otherwise;
  const names = columns.filter((column) => column === "identifier" || column === "queue_name");
  return `
    select
      ${names.map((name) => `${given(name)} as ${name}, `).join("")}payload::json as payload, n,
      ${or("run_at", SPREAD)} as run_at, ${or("max_attempts", "25")} as max_attempts,
      ${or("priority", "0")} as priority, ${columns.includes("flags") ? given("flags") : "null"}::jsonb as flags
    from rows from (${[payloads, ...arrays].map((one) => `pg_catalog.unnest(${one})`).join(", ")})
      with ordinality as batch (${["payload", ...columns, "n"].join(", ")})`;
}
