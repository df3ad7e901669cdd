// Finds the functions and operators of a statement that a role could replace by creating objects in a schema on the
// search path.
import pg from "pg";
import { createOperators } from "./overloads.ts";

// Keywords that can precede a parenthesis, but are not looked up as functions.
const SYNTAX = new Set([
  ...[
    "all",
    "any",
    "array",
    "coalesce",
    "exists",
    "extract",
    "greatest",
    "grouping",
    "in",
    "least",
  ],
  ...["nullif", "operator", "row", "values"],
]);

/** Returns the names of the functions that a statement calls without a schema. */
export function bareFunctions(text: string): string[] {
  const code = text.replaceAll(/'(?:[^']|'')*'/g, "''");
  return [...code.matchAll(/(?<![.\w"])([a-z_]\w*)\(/g)]
    .filter(({ 1: name = "", index }) => !SYNTAX.has(name) && !isSpread(code, name, index))
    .map(({ 1: name = "" }) => name);
}

/** PostgreSQL's parser replaces `unnest` with several arrays by several calls of `pg_catalog.unnest`. */
function isSpread(text: string, name: string, index: number): boolean {
  return name === "unnest" && /^unnest\([^()]*,/.test(text.slice(index));
}

/** Connects to a database, and creates the operators of overloads.ts. */
export async function overloadedClient(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(
    "create function public.captured() returns bool language sql as 'select true'",
  );
  await createOperators(client);
  return client;
}

const dependsOn = `
  select operators.oid::regoperator::text as operator
  from pg_depend as depend join pg_operator as operators on operators.oid = depend.refobjid
  where depend.classid = 'pg_proc'::regclass and depend.refclassid = 'pg_operator'::regclass
  and depend.objid = (select oid from pg_proc where proname = 'statement')
  and operators.oprnamespace = 'public'::regnamespace`;

/**
 * Returns the operators in `public` that a statement uses. PostgreSQL stores which operators the parsed body of a
 * function (`begin atomic`) uses.
 */
export async function operatorsOfOthers(client: pg.Client, text: string): Promise<string[]> {
  await client.query("set search_path = pg_catalog");
  await client.query(`prepare statement as ${text}`);
  const { rows } = await client.query<{ types: string }>(
    "select array_to_string(parameter_types, ',') as types from pg_prepared_statements",
  );
  await client.query("deallocate statement; set search_path = public");
  const types = rows[0]?.types ?? "";
  await client.query("begin");
  try {
    const made = `create function public.statement(${types}) returns void language sql`;
    await client.query(`${made} begin atomic ${text}; end`);
    await client.query("set local search_path = pg_catalog");
    const found = await client.query<{ operator: string }>(dependsOn);
    return found.rows.map(({ operator }) => operator);
  } catch (error) {
    return [`${error}`];
  } finally {
    await client.query("rollback");
  }
}
