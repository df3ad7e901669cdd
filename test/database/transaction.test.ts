// Tests inTransaction(). On a pool, it runs several statements as one transaction. On a client, it begins none.
import assert from "node:assert/strict";
import { test } from "node:test";
import pg from "pg";
import { inTransaction } from "../../src/database/connection/transaction.ts";
import { type Database, query } from "../../src/database/database.ts";
import { schemaName } from "../../src/database/schema-name.ts";
import { emptyDatabase } from "../support/database.ts";
import { testPool } from "../support/test-pool.ts";

const { url } = await emptyDatabase();
const schema = schemaName("public");
const insert = (db: Database, n: number) =>
  query(db, () => "insert into numbers values ($1::int)", [n]);

test("On a pool either all statements take effect or none, and the connection is released.", async () => {
  await using handle = testPool(url, 1);
  const db = { client: handle.pool, schema };
  await handle.pool.query("create table numbers (n int)");
  assert.equal(
    await inTransaction(db, async (inside) => {
      await insert(inside, 1);
      await insert(inside, 2);
      return "done";
    }),
    "done",
  );
  const failing = inTransaction(db, async (inside) => {
    await insert(inside, 3);
    await query(inside, () => "select 1 / 0");
  });
  await assert.rejects(failing, { code: "database_error", message: /division by zero/ });
  const { rows } = await handle.pool.query("select n from numbers order by n");
  assert.deepEqual(rows, [{ n: 1 }, { n: 2 }]);
  assert.equal(handle.pool.idleCount, 1);
});

test("An object that wraps a pool and has no member `options` is used as a pool.", async () => {
  await using handle = testPool(url, 1);
  const { pool } = handle;
  const wrapped = {
    connect: pool.connect.bind(pool),
    query: pool.query.bind(pool),
    idleCount: 0,
    totalCount: 1,
  };
  const db = { client: wrapped as unknown as pg.Pool, schema };
  const rows = await inTransaction(db, (inside) => query(inside, () => "select 1 as one"));
  assert.deepEqual(rows, [{ one: 1 }]);
});

test("A connection that is lost during a transaction is not reused.", async () => {
  await using handle = testPool(url, 1);
  const lost = inTransaction({ client: handle.pool, schema }, (inside) =>
    query(inside, () => "select pg_terminate_backend(pg_backend_pid())"),
  );
  await assert.rejects(lost, { code: "database_unreachable" });
  const { rows } = await handle.pool.query("select 1 as one");
  assert.deepEqual(rows, [{ one: 1 }]);
});

test("On a client, inTransaction() begins and commits no transaction, so the caller can roll back the changes.", async () => {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query("create temporary table numbers (n int)");
    await client.query("begin");
    await inTransaction({ client, schema }, (inside) => insert(inside, 1));
    await client.query("rollback");
    assert.equal((await client.query("select from numbers")).rowCount, 0);
  } finally {
    await client.end();
  }
});
