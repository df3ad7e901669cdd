// Reads times from the database as whole microseconds since 1970: a Date has only milliseconds, and the text of a time
// depends on the session's DateStyle and TimeZone.
import { WorkerError } from "../../base/errors.ts";
import { type Database, query, type Statement } from "../../database/database.ts";

/** Returns the start time of the current transaction by the database's clock, in microseconds since 1970. */
export async function databaseNowUs(db: Database): Promise<string> {
  const [row] = await query<{ us: string }>(db, nowSql);
  if (row === undefined) throw new WorkerError("database_error", "the database returned no time");
  return row.us;
}

const nowSql: Statement = () => `select ${microseconds("pg_catalog.now()")}::text as us`;

/**
 * Returns an expression for a time in microseconds since 1970. The expression is numeric, because the text of a float
 * depends on extra_float_digits, and an integer cannot represent infinity.
 */
export const microseconds = (column: string) =>
  `pg_catalog.floor(extract(epoch from ${column}) * 1000000::numeric)`;

/** Returns an expression for a time in milliseconds since 1970, rounded down. */
export const milliseconds = (column: string) =>
  `pg_catalog.floor(extract(epoch from ${column}) * 1000::numeric)`;

/**
 * Returns an expression for the milliseconds since a time; infinite for an infinite time. The expression subtracts
 * numbers, because PostgreSQL before 17 cannot subtract infinite times.
 */
export const ageMs = (moment: string): string =>
  `((extract(epoch from pg_catalog.now())::float8 - extract(epoch from ${moment})::float8) * 1000::float8)`;

/** Returns an expression for the milliseconds until a time: negative for a past time, infinite for an infinite time. */
export const aheadMs = (moment: string, now = "pg_catalog.now()"): string =>
  `((extract(epoch from ${moment})::float8 - extract(epoch from ${now})::float8) * 1000::float8)`;

// RFC 3339 ends with the year 9999. PostgreSQL has later times and `infinity`.
export const EARLIEST_MS = Date.parse("0001-01-01T00:00:00.000Z");
export const LATEST_MS = Date.parse("9999-12-31T23:59:59.999Z");

/** Returns the Date of a time in microseconds, rounded down, and not beyond EARLIEST_MS or LATEST_MS. */
export function dateOf(us: string | number): Date {
  const value = Number(us);
  // This runs at least three times for each job. So usually only the Date is allocated.
  if (!Number.isSafeInteger(value)) return new Date(largeParts(us, value).ms);
  const ms = (value - modulo(value)) / 1_000;
  return new Date(Math.min(Math.max(ms, EARLIEST_MS), LATEST_MS));
}

/** Returns RFC 3339 text in UTC, such as `2031-01-31T08:00:00.500Z`; with six decimals if necessary. */
export function timeText(us: string | number): string {
  const { ms, rest } = parts(us);
  const text = new Date(ms).toISOString();
  return rest === 0 ? text : `${text.slice(0, -1)}${String(rest).padStart(3, "0")}Z`;
}

function parts(us: string | number): { readonly ms: number; readonly rest: number } {
  const value = Number(us);
  if (!Number.isSafeInteger(value)) return largeParts(us, value);
  const rest = modulo(value);
  return clampMoment((value - rest) / 1_000, rest);
}

/** For a `us` that is no safe integer, such as infinity. */
function largeParts(us: string | number, value: number) {
  if (!Number.isFinite(value)) return clampMoment(value, 0);
  const exact = BigInt(us);
  const rest = modulo(Number(exact % 1_000n));
  return clampMoment(Number((exact - BigInt(rest)) / 1_000n), rest);
}

function clampMoment(ms: number, rest: number) {
  if (ms > LATEST_MS) return { ms: LATEST_MS, rest: 0 };
  return ms < EARLIEST_MS ? { ms: EARLIEST_MS, rest: 0 } : { ms, rest };
}

const modulo = (value: number) => ((value % 1_000) + 1_000) % 1_000;
