// Tests that no statement in golden/ uses a function, an operator or a table that another role has created in place of
// one of PostgreSQL's own. Other roles may be allowed to create objects in a schema on the search path. If the types of
// such a function or operator are exactly those of the arguments, PostgreSQL prefers it to a built-in one that is
// generic or needs a conversion. So each table of PostgreSQL, and each function that a role could replace
// (bareFunctions()), is written with its schema. Operands have exactly the types of PostgreSQL's operators.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import type pg from "pg";
import { bareFunctions, operatorsOfOthers, overloadedClient } from "../support/captures.ts";
import { migratedDatabase } from "../support/database.ts";

const folder = join(import.meta.dirname, "golden");
const statements = readdirSync(folder).flatMap((file) =>
  readFileSync(join(folder, file), "utf8")
    .split(/;\n\n|;\s*$/)
    .filter((text) => text.trim() !== "")
    .map((text) => ({ file, text })),
);

test("Every function that a role could replace is written with its schema.", () => {
  const bare = statements.flatMap(({ file, text }) =>
    bareFunctions(text).map((name) => `${file}: ${name}`),
  );
  assert.deepEqual(bare, []);
});

test("Every table of PostgreSQL in a statement is written with its schema.", () => {
  const bare = statements.flatMap(({ file, text }) =>
    [...text.matchAll(/\b(?:from|join) (pg_(?!catalog\b)\w+)/g)].map(
      ([, name]) => `${file}: ${name}`,
    ),
  );
  assert.deepEqual(bare, []);
});

let client: pg.Client;
before(async () => {
  const { url } = await migratedDatabase("worker", ["operations", "limits", "schedules"]);
  client = await overloadedClient(url);
});
after(() => client.end());

test("Every operator in a statement is PostgreSQL's, whatever operators the schema public has.", async () => {
  const captured: string[] = [];
  for (const { file, text } of statements) {
    if (/^\s*copy /.test(text)) continue;
    for (const operator of await operatorsOfOthers(client, text))
      captured.push(`${file}: ${operator}`);
  }
  assert.deepEqual(captured, []);
});

test("The check of operators finds an operator in public that has exactly the types of the operands.", async () => {
  assert.deepEqual(
    await operatorsOfOthers(client, "select extract(epoch from $1::timestamptz) * 2"),
    ["public.*(numeric,integer)"],
  );
});
