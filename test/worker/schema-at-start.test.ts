// What the start of a worker does about its schema.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import pg from "pg";
import { run, runOnce } from "../../src/worker/run.ts";
import { emptyDatabase, migratedDatabase } from "../support/database.ts";
import { installStock } from "../support/stock-schema.ts";
import { recording, within } from "./worker-queue.ts";

const tasks = [recording("task")];
const quiet = { tasks, recovery: false, handleSignals: false } as const;

/** A statement on a connection of its own. */
async function sql<R extends pg.QueryResultRow>(url: string, text: string): Promise<R[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<R>(text)).rows;
  } finally {
    await client.end();
  }
}

/** Everything that is in the schema, and how it is made. */
const objects = (url: string) =>
  sql(
    url,
    `select c.oid::text, c.xmin::text, relname from pg_class c
     join pg_namespace n on n.oid = relnamespace where nspname = 'worker'
     union all
     select p.oid::text, p.xmin::text, proname from pg_proc p
     join pg_namespace n on n.oid = pronamespace where nspname = 'worker' order by 3, 1`,
  );

/** Graphile Worker's own, without our additions. */
async function stockDatabase(): Promise<string> {
  const { url } = await emptyDatabase();
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await installStock(client);
  await client.end();
  return url;
}

describe("The start of a worker", () => {
  for (const [what, prepare] of [
    ["there is none", ""],
    ["it is empty", "create schema worker"],
  ] as const) {
    test(`makes the schema where ${what}, and takes jobs from it.`, async () => {
      const { url } = await emptyDatabase();
      if (prepare !== "") await sql(url, prepare);
      const worker = await run({ ...quiet, connectionString: url });
      const job = await worker.utils.addJob("task");
      assert.equal(job?.taskIdentifier, "task");
      await within("the queue is drained", worker.drain());
      await worker.stop();
      assert.equal(tasks[0]?.seen.length !== 0, true);
    });
  }

  test("is the same for runOnce, and for two at once.", async () => {
    const { url } = await emptyDatabase();
    const none = { completed: 0, failed: 0, skipped: 0 };
    const both = [1, 2].map(() => runOnce({ ...quiet, connectionString: url }));
    assert.deepEqual(await Promise.all(both), [none, none]);
  });

  test("changes nothing in a schema that is there, ours or Graphile Worker's.", async () => {
    for (const url of [(await migratedDatabase()).url, await stockDatabase()]) {
      const before = await objects(url);
      await runOnce({ ...quiet, connectionString: url });
      assert.deepEqual(await objects(url), before);
    }
  });

  test("adds what a schema lacks when it is asked to.", async () => {
    const url = await stockDatabase();
    await runOnce({ ...quiet, connectionString: url, migrate: "always" });
    const [row] = await sql(
      url,
      "select to_regclass('worker._private_workers') is not null as has",
    );
    assert.deepEqual(row, { has: true });
  });

  test("makes no schema when it is told not to, and says what to do.", async () => {
    const { url } = await emptyDatabase();
    const options = { ...quiet, connectionString: url, migrate: "never" } as const;
    const refusal = { code: "schema_missing", message: /create it with migrate\(\)/ };
    await assert.rejects(run(options), refusal);
    await assert.rejects(runOnce(options), refusal);
    assert.deepEqual(await objects(url), []);
  });
});
