// Times of the database as they are: PostgreSQL counts microseconds, a Date only milliseconds. They
// leave it as whole microseconds since 1970, never through the session's DateStyle or TimeZone.
import { WorkerError } from "../../base/errors.ts";
import { type Database, query, type Statement } from "../../database/database.ts";

/** The database's clock, in microseconds since 1970: the start of the transaction. */
export async function databaseNowUs(db: Database): Promise<string> {
  const [row] = await query<{ us: string }>(db, nowSql);
  if (row === undefined) throw new WorkerError("database_error", "the database gave no time");
  return row.us;
}

const nowSql: Statement = () => `select ${microseconds("pg_catalog.now()")}::text as us`;

/**
 * A time column in microseconds: numeric, because float output depends on extra_float_digits and an
 * integer cannot hold infinity.
 */
export const microseconds = (column: string) =>
  `pg_catalog.floor(extract(epoch from ${column}) * 1000000::numeric)`;

/** The same in milliseconds, rounded down: for what is compared with a Date. */
export const milliseconds = (column: string) =>
  `pg_catalog.floor(extract(epoch from ${column}) * 1000::numeric)`;

/** How long ago a moment was, milliseconds. Of an infinite one, which PostgreSQL may not subtract: infinite. */
export const ageMs = (moment: string): string =>
  `((extract(epoch from pg_catalog.now())::float8 - extract(epoch from ${moment})::float8) * 1000::float8)`;

// RFC 3339 ends with the year 9999; PostgreSQL goes on to 294276 and then has `infinity`.
const EARLIEST_MS = Date.parse("0001-01-01T00:00:00.000Z");
const LATEST_MS = Date.parse("9999-12-31T23:59:59.999Z");

/** A Date; `infinity` and what RFC 3339 cannot say become the nearest it can. */
export function dateOf(us: string | number): Date {
  const value = Number(us);
  // Three a job, and a batch has ten thousand jobs: nothing is made on the way to the Date.
  if (!Number.isSafeInteger(value)) return new Date(largeParts(us, value).ms);
  const ms = (value - modulo(value)) / 1_000;
  return new Date(Math.min(Math.max(ms, EARLIEST_MS), LATEST_MS));
}

/** RFC 3339 in UTC: `2031-01-31T08:00:00.500Z`, or with six digits where the time has them. */
export function timeText(us: string | number): string {
  const { ms, rest } = parts(us);
  const text = new Date(ms).toISOString();
  return rest === 0 ? text : `${text.slice(0, -1)}${String(rest).padStart(3, "0")}Z`;
}

/** Whole milliseconds, rounded down, and the microseconds beyond them. */
function parts(us: string | number): { readonly ms: number; readonly rest: number } {
  const value = Number(us);
  if (!Number.isSafeInteger(value)) return largeParts(us, value);
  const rest = modulo(value);
  return bounded((value - rest) / 1_000, rest);
}

/** Beyond the year 2255 a double no longer has every microsecond. */
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
