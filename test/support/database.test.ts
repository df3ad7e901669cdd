// Tests of database.ts, which creates the databases of other tests.
import assert from "node:assert/strict";
import { test } from "node:test";
import pg from "pg";
import { databaseLike, emptyDatabase } from "./database.ts";

async function queryText(url: string, text: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query({ text, rowMode: "array" })).rows.flat();
  } finally {
    await client.end();
  }
}

test("emptyDatabase() creates a new, empty database on each call.", async () => {
  const [one, two] = await Promise.all([emptyDatabase(), emptyDatabase()]);
  assert.notEqual(one.name, two.name);
  await queryText(one.url, "create table t as select 1 as a");
  assert.deepEqual(await queryText(two.url, "select to_regclass('t')"), [null]);
  assert.deepEqual(await queryText(two.url, "select current_database()"), [two.name]);
});

test("Databases of one kind are copies of a template that is filled once.", async () => {
  let fills = 0;
  const fill = async (url: string) => {
    fills++;
    await queryText(url, "create table t as select 7 as a");
  };
  const copies = await Promise.all([1, 2, 3].map(() => databaseLike("harness", fill)));
  assert.equal(fills, 1);
  for (const copy of copies) assert.deepEqual(await queryText(copy.url, "select a from t"), [7]);
});
