// No statement can be captured: in a schema on the search path that others may create in, an operator or
// a function for exactly the types of a call wins over PostgreSQL's own that takes any type. So each
// golden statement names its functions by their schema, and each operator of it has operands for which
// PostgreSQL has an operator of its own.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import pg from "pg";
import { migratedDatabase } from "../support/database.ts";
import { createOperators } from "../support/overloads.ts";

const folder = join(import.meta.dirname, "golden");
const statements = readdirSync(folder).flatMap((file) =>
  readFileSync(join(folder, file), "utf8")
    .split(/;\n\n|;\s*$/)
    .filter((text) => text.trim() !== "")
    .map((text) => ({ file, text })),
);

// What the grammar knows without looking a function up.
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

test("Every function in a statement is named by its schema.", () => {
  const bare = statements.flatMap(({ file, text }) => {
    const code = text.replaceAll(/'(?:[^']|'')*'/g, "''");
    return [...code.matchAll(/(?<![.\w"])([a-z_]\w*)\(/g)]
      .filter(({ 1: name = "", index }) => !SYNTAX.has(name) && !isSpread(code, name, index))
      .map(({ 1: name }) => `${file}: ${name}`);
  });
  assert.deepEqual(bare, []);
});

/** The grammar itself makes several calls of `pg_catalog.unnest` of one that has several lists. */
function isSpread(text: string, name: string, index: number): boolean {
  return name === "unnest" && /^unnest\([^()]*,/.test(text.slice(index));
}

let client: pg.Client;
before(async () => {
  const { url } = await migratedDatabase("worker", ["operations"]);
  client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(
    "create function public.captured() returns bool language sql as 'select true'",
  );
  await createOperators(client);
});
after(() => client.end());

const dependsOn = `
  select operators.oid::regoperator::text as operator
  from pg_depend as depend join pg_operator as operators on operators.oid = depend.refobjid
  where depend.classid = 'pg_proc'::regclass and depend.refclassid = 'pg_operator'::regclass
  and depend.objid = (select oid from pg_proc where proname = 'statement')
  and operators.oprnamespace = 'public'::regnamespace`;

test("Every operator in a statement is PostgreSQL's, whatever there is in public.", async () => {
  const captured: string[] = [];
  for (const { file, text } of statements) {
    if (/^\s*copy /.test(text)) continue;
    for (const operator of await operatorsOfOthers(text)) captured.push(`${file}: ${operator}`);
  }
  assert.deepEqual(captured, []);
});

test("An operator for exactly the operands of a statement is found.", async () => {
  assert.deepEqual(await operatorsOfOthers("select extract(epoch from $1::timestamptz) * 2"), [
    "public.*(numeric,integer)",
  ]);
});

/** PostgreSQL keeps what it has made of a function's statements, and what that depends on. */
async function operatorsOfOthers(text: string): Promise<string[]> {
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
