// Finds the triggers and row security policies that may skip rows. PostgreSQL raises no error if a trigger before a
// row's change returns null, or if a policy hides the row.
import { WorkerError } from "../base/errors.ts";
import { type Database, query, type Statement } from "./database.ts";
import { isRaised } from "./errors/raised.ts";

/** The text of the error that a statement raises if PostgreSQL has skipped one of its rows. */
export const SKIPPED = "a row was left as it is";

/**
 * For each change: the bits of its triggers in pg_trigger.tgtype, and its letter in pg_policy.polcmd. An add may also
 * update a stored job with the same key. An add has no letter: if a policy forbids the add, PostgreSQL raises an error.
 */
const CHANGES = { add: [4 | 16, ""], update: [16, "w"], delete: [8, "d"] } as const;

export type Change = keyof typeof CHANGES;

/** If `error` was raised because of a skipped row, returns an error that names the possible triggers and policies. */
export async function withSkippers(db: Database, change: Change, error: unknown): Promise<unknown> {
  if (!isRaised((error as Error).cause, SKIPPED)) return error;
  const names = await readSkippers(db, change);
  const cause = names.length === 0 ? "" : ` by the ${names.join(" or the ")}`;
  return new WorkerError("database_error", `the ${change} of its row is skipped${cause}`);
}

/** Returns the triggers and policies that may skip jobs during `change`, in words such as `trigger "audit"`. */
export async function readSkippers(db: Database, change: Change): Promise<string[]> {
  const values = [`${db.schema.quoted}._private_jobs`, ...CHANGES[change]];
  return (await query<{ name: string }>(db, skippersSql, values)).map(({ name }) => name);
}

/**
 * Returns an SQL condition: the table has a trigger that may change rows before their insert. `table`: the parameter
 * with the table's name, such as `$1`.
 */
export const mayChangeInserts = (table: string): string => `exists (
      select from pg_catalog.pg_trigger where tgrelid = ${table}::text::regclass::oid
      and tgtype & 7::int2 = 7::int2 and tgenabled <> 'D')`;

// Only a trigger for each row (1 in tgtype) that runs before the change (2) can skip a row (pg_trigger.h).
const skippersSql: Statement = () => `
  select pg_catalog.format('trigger "%s"', tgname) as name from pg_catalog.pg_trigger
  where tgrelid = $1::text::regclass::oid and not tgisinternal and tgenabled <> 'D'
  and tgtype & 3::int2 = 3::int2 and tgtype & $2::int2 <> 0::int2
  union all
  select pg_catalog.format('row security policy "%s"', polname) from pg_catalog.pg_policy
  where polrelid = $1::text::regclass::oid and pg_catalog.row_security_active(polrelid)
  and $3::text <> '' and polcmd::text in ('*', $3::text)
  order by name`;
