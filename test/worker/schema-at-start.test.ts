// Tests what the start of a worker does with the schema, for each value of the option `migrate`.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import pg from "pg";
import { run, runOnce } from "../../src/worker/run.ts";
import { emptyDatabase, migratedDatabase } from "../support/database.ts";
import { installStock } from "../support/stock-schema.ts";
import { recordingTask, waitFor } from "./worker-queue.ts";

const tasks = [recordingTask("task")];
const quiet = { tasks, recovery: false, handleSignals: false } as const;

/** Runs a statement on a new connection. */
async function sql<R extends pg.QueryResultRow>(url: string, text: string): Promise<R[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<R>(text)).rows;
  } finally {
    await client.end();
  }
}

/** Returns all relations and functions of the schema `worker`. The `xmin` of each one changes when it is changed. */
const objects = (url: string) =>
  sql(
    url,
    `select c.oid::text, c.xmin::text, relname from pg_class c
     join pg_namespace n on n.oid = relnamespace where nspname = 'worker'
     union all
     select p.oid::text, p.xmin::text, proname from pg_proc p
     join pg_namespace n on n.oid = pronamespace where nspname = 'worker' order by 3, 1`,
  );

/** Creates a database with a schema of Graphile Worker. Returns the URL of the database. */
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
    ["it is missing", ""],
    ["it is empty", "create schema worker"],
  ] as const) {
    test(`creates the schema when ${what}, and fetches jobs from it.`, async () => {
      const { url } = await emptyDatabase();
      if (prepare !== "") await sql(url, prepare);
      const worker = await run({ ...quiet, connectionString: url });
      const job = await worker.utils.addJob("task");
      assert.equal(job?.taskIdentifier, "task");
      await waitFor("the queue is drained", worker.drain());
      await worker.stop();
      assert.equal(tasks[0]?.seen.length !== 0, true);
    });
  }

  test("also creates the schema when two calls of runOnce() start at once.", async () => {
    const { url } = await emptyDatabase();
    const none = { completed: 0, failed: 0, skipped: 0 };
    const both = [1, 2].map(() => runOnce({ ...quiet, connectionString: url }));
    assert.deepEqual(await Promise.all(both), [none, none]);
  });

  test("does not change an existing schema, of this library or of Graphile Worker.", async () => {
    for (const url of [(await migratedDatabase()).url, await stockDatabase()]) {
      const before = await objects(url);
      await runOnce({ ...quiet, connectionString: url });
      assert.deepEqual(await objects(url), before);
    }
  });

  test("adds missing parts of a schema if `migrate` is `always`.", async () => {
    const url = await stockDatabase();
    await runOnce({ ...quiet, connectionString: url, migrate: "always" });
    const [row] = await sql(
      url,
      "select to_regclass('worker._private_workers') is not null as has",
    );
    assert.deepEqual(row, { has: true });
  });

  test("creates no schema if `migrate` is `never`, and the error has advice.", async () => {
    const { url } = await emptyDatabase();
    const options = { ...quiet, connectionString: url, migrate: "never" } as const;
    const refusal = { code: "schema_missing", message: /create it with migrate\(\)/ };
    await assert.rejects(run(options), refusal);
    await assert.rejects(runOnce(options), refusal);
    assert.deepEqual(await objects(url), []);
  });
});
