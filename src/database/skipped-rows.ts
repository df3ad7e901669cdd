// Rows that PostgreSQL skips without an error, because a trigger before the row's change returns null, or a row
// security policy hides the row from the change. Also finds out whether such triggers may change inserted rows.
import { WorkerError } from "../base/errors.ts";
import { type Database, query, type Statement } from "./database.ts";
import { isRaised } from "./errors/raised.ts";

/** A part of the error by which a statement undoes itself if PostgreSQL has skipped a row. */
export const SKIPPED = "a row was left as it is";

/**
 * For each change, the bit of pg_trigger.tgtype and the letter of pg_policy.polcmd. An add also updates, if the key
 * exists.
 */
const CHANGES = { add: [4 | 16, ""], update: [16, "w"], delete: [8, "d"] } as const;

export type Change = keyof typeof CHANGES;

/**
 * Returns `error`. If the statement has undone itself because PostgreSQL skipped a row, returns instead an error that
 * names the triggers and policies that may skip rows.
 */
export async function withSkippers(db: Database, change: Change, error: unknown): Promise<unknown> {
  if (!isRaised((error as Error).cause, SKIPPED)) return error;
  const names = await readSkippers(db, change);
  const cause = names.length === 0 ? "" : ` by the ${names.join(" or the ")}`;
  return new WorkerError("database_error", `the ${change} of its row is skipped${cause}`);
}

/** Returns the names of what can skip rows, such as `trigger "audit"`. */
export async function readSkippers(db: Database, change: Change): Promise<string[]> {
  const values = [`${db.schema.quoted}._private_jobs`, ...CHANGES[change]];
  return (await query<{ name: string }>(db, skippersSql, values)).map(({ name }) => name);
}

/** Returns an expression: whether a trigger may change the rows of an insert. `table`: the parameter with its name. */
export const mayChangeInserts = (table: string): string => `exists (
      select from pg_catalog.pg_trigger where tgrelid = ${table}::text::regclass::oid
      and tgtype & 7::int2 = 7::int2 and tgenabled <> 'D')`;

// tgtype also has bits for a trigger of each row (1) and one before the change (2): pg_trigger in
// PostgreSQL's documentation. An insert that a policy forbids is an error.
const skippersSql: Statement = () => `
  select pg_catalog.format('trigger "%s"', tgname) as name from pg_catalog.pg_trigger
  where tgrelid = $1::text::regclass::oid and not tgisinternal and tgenabled <> 'D'
  and tgtype & 3::int2 = 3::int2 and tgtype & $2::int2 <> 0::int2
  union all
  select pg_catalog.format('row security policy "%s"', polname) from pg_catalog.pg_policy
  where polrelid = $1::text::regclass::oid and pg_catalog.row_security_active(polrelid)
  and $3::text <> '' and polcmd::text in ('*', $3::text)
  order by name`;
