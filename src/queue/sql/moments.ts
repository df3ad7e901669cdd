// The database's times without loss: PostgreSQL has microseconds, a Date only milliseconds. Times leave it
// as whole microseconds since 1970, never through the session's DateStyle or TimeZone.
import { WorkerError } from "../../base/errors.ts";
import { type Database, query, type Statement } from "../../database/database.ts";

/** The start of the transaction by the database's clock, in microseconds since 1970. */
export async function databaseNowUs(db: Database): Promise<string> {
  const [row] = await query<{ us: string }>(db, nowSql);
  if (row === undefined) throw new WorkerError("database_error", "the database returned no time");
  return row.us;
}

const nowSql: Statement = () => `select ${microseconds("pg_catalog.now()")}::text as us`;

/**
 * A time column in microseconds. Numeric, because float output depends on extra_float_digits and an integer
 * cannot represent infinity.
 */
export const microseconds = (column: string) =>
  `pg_catalog.floor(extract(epoch from ${column}) * 1000000::numeric)`;

/** The same in milliseconds, rounded down, for comparisons with a Date. */
export const milliseconds = (column: string) =>
  `pg_catalog.floor(extract(epoch from ${column}) * 1000::numeric)`;

/** The age of a time in milliseconds. Infinite for an infinite time, which PostgreSQL may not subtract. */
export const ageMs = (moment: string): string =>
  `((extract(epoch from pg_catalog.now())::float8 - extract(epoch from ${moment})::float8) * 1000::float8)`;

// RFC 3339 ends with the year 9999; PostgreSQL continues to 294276 and also has `infinity`.
const EARLIEST_MS = Date.parse("0001-01-01T00:00:00.000Z");
const LATEST_MS = Date.parse("9999-12-31T23:59:59.999Z");

/** A Date. `infinity` and times beyond RFC 3339 become the nearest valid ones. */
export function dateOf(us: string | number): Date {
  const value = Number(us);
  // Called three times per job, and a batch has ten thousand jobs: nothing else is allocated.
  if (!Number.isSafeInteger(value)) return new Date(largeParts(us, value).ms);
  const ms = (value - modulo(value)) / 1_000;
  return new Date(Math.min(Math.max(ms, EARLIEST_MS), LATEST_MS));
}

/** RFC 3339 in UTC: `2031-01-31T08:00:00.500Z`, or with six digits if the time has microseconds. */
export function timeText(us: string | number): string {
  const { ms, rest } = parts(us);
  const text = new Date(ms).toISOString();
  return rest === 0 ? text : `${text.slice(0, -1)}${String(rest).padStart(3, "0")}Z`;
}

/** Whole milliseconds, rounded down, and the remaining microseconds. */
function parts(us: string | number): { readonly ms: number; readonly rest: number } {
  const value = Number(us);
  if (!Number.isSafeInteger(value)) return largeParts(us, value);
  const rest = modulo(value);
  return bounded((value - rest) / 1_000, rest);
}

/** Beyond the year 2255 a double cannot represent every microsecond. */
function largeParts(us: string | number, value: number) {
  if (!Number.isFinite(value)) return bounded(value, 0);
  const exact = BigInt(us);
  const rest = modulo(Number(exact % 1_000n));
  return bounded(Number((exact - BigInt(rest)) / 1_000n), rest);
}

function bounded(ms: number, rest: number) {
  if (ms > LATEST_MS) return { ms: LATEST_MS, rest: 0 };
  return ms < EARLIEST_MS ? { ms: EARLIEST_MS, rest: 0 } : { ms, rest };
}

const modulo = (value: number) => ((value % 1_000) + 1_000) % 1_000;
