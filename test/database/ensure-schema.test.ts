// A worker's start creates the queue in a missing or empty schema, and does not change any other schema.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { runMigrations } from "graphile-worker";
import type pg from "pg";
import { ensureSchema } from "../../src/database/schema/ensure-schema.ts";
import { migrateBy } from "../../src/database/schema/migrate.ts";
import { schemaState } from "../../src/database/schema/schema-state.ts";
import { type SchemaName, schemaName } from "../../src/database/schema-name.ts";
import { emptyDatabase } from "../support/database.ts";
import { installStock } from "../support/stock-schema.ts";
import { rolePool, type TestPool, testPool } from "../support/test-pool.ts";

let url: string;
let owner: TestPool;
let pools: TestPool[];
let count = 0;
const fresh = (): SchemaName => schemaName(`ensured ${++count}`);

/** Returns the schema's relations and functions, each with the transaction that last wrote its catalogue row. */
async function versions(pool: pg.Pool, { quoted }: SchemaName): Promise<unknown[]> {
  const { rows } = await pool.query(
    `select relname as name, xmin::text from pg_class where relnamespace = to_regnamespace($1)
     union all
     select proname, xmin::text from pg_proc where pronamespace = to_regnamespace($1)
     order by 1, 2`,
    [quoted],
  );
  return rows;
}

describe("ensureSchema", () => {
  before(async () => {
    ({ url } = await emptyDatabase());
    owner = testPool(url);
    pools = Array.from({ length: 6 }, () => testPool(url, 1));
  });
  after(() => Promise.all([owner, ...pools].map((pool) => pool.close())));

  for (const kind of ["no schema", "an empty schema"]) {
    test(`With ${kind}, the first start creates the queue, and the second start changes nothing.`, async () => {
      const schema = fresh();
      if (kind !== "no schema") await owner.pool.query(`create schema ${schema.quoted}`);
      const state = await ensureSchema(owner.pool, schema);
      assert.deepEqual([state.kind, state.origin], ["ready", "ours"]);
      assert.deepEqual([...state.extensions], ["workers"]);
      const before = await versions(owner.pool, schema);
      assert.deepEqual(await ensureSchema(owner.pool, schema), state);
      assert.deepEqual(await versions(owner.pool, schema), before);
    });
  }

  test("If six starts run at once, one of them creates the queue, and all of them use it.", async () => {
    for (let round = 0; round < 3; round++) {
      const schema = fresh();
      const states = await Promise.all(pools.map(({ pool }) => ensureSchema(pool, schema)));
      for (const state of states) assert.deepEqual([state.origin, state.level], ["ours", 20]);
      const { rows } = await owner.pool.query(
        `select count(*)::int from ${schema.quoted}.migrations`,
      );
      assert.deepEqual(rows, [{ count: 20 }]);
    }
  });

  test("Six concurrent starts use a schema of Graphile Worker, and do not change it.", async () => {
    const schema = fresh();
    await installStock(owner.pool, schema);
    const before = await versions(owner.pool, schema);
    const states = await Promise.all(pools.map(({ pool }) => ensureSchema(pool, schema)));
    for (const state of states) assert.equal(state.origin, "graphile");
    assert.deepEqual(await versions(owner.pool, schema), before);
  });

  test("If a start and Graphile Worker create the schema at the same moment, nothing is added to tables of Graphile Worker.", async (t) => {
    const seen: string[] = [];
    for (let round = 0; round < 8; round++) {
      const schema = fresh();
      const stock = () => runMigrations({ pgPool: owner.pool, schema: schema.name });
      const ours = () => ensureSchema(pools[0]?.pool as pg.Pool, schema);
      const later = async <T>(work: () => Promise<T>) => {
        await new Promise((resolve) => setTimeout(resolve, round * 2));
        return work();
      };
      const [state] = await Promise.all(
        round % 2 === 0 ? [later(ours), stock()] : [ours(), later(stock)],
      );
      const after = await schemaState({ client: owner.pool, schema });
      assert.ok(after.kind === "ready");
      assert.deepEqual([after.origin, after.level], [state.origin, 20]);
      assert.equal(after.extensions.size, state.origin === "ours" ? 1 : 0);
      seen.push(state.origin);
    }
    t.diagnostic(`the schemas were made by ${seen.join(", ")}`);
  });

  test("A schema of this library without extensions is used unchanged.", async () => {
    const schema = fresh();
    await migrateBy({ registry: [] }, owner.pool, schema);
    const before = await versions(owner.pool, schema);
    const state = await ensureSchema(owner.pool, schema);
    assert.deepEqual([...state.extensions], []);
    assert.deepEqual(await versions(owner.pool, schema), before);
  });

  test("If the role may not create schemas, the error has a statement that the database's owner can run.", async () => {
    const schema = fresh();
    await using app = await rolePool(url, owner.pool, () => "select");
    await assert.rejects(ensureSchema(app.pool, schema), {
      code: "database_error",
      message: /^this role may not create a schema .*let the database's owner run: create schema "/,
    });
  });

  test("If the role may not create tables in an empty schema, the error has a command and a statement for the schema's owner.", async () => {
    const schema = fresh();
    await using app = await rolePool(
      url,
      owner.pool,
      (role) => `create schema ${schema.quoted}; grant usage on schema ${schema.quoted} to ${role}`,
    );
    await assert.rejects(ensureSchema(app.pool, schema), {
      code: "database_error",
      message:
        /^this role may not create tables in the schema "ensured \d+" .*"worker migrate --schema='ensured \d+'" as its owner, or let the owner run: grant usage, create on schema/,
    });
  });

  test("A schema that is not a queue, or whose level is too old, is refused and not changed.", async () => {
    const [foreign, old] = [fresh(), fresh()];
    await owner.pool.query(
      `create schema ${foreign.quoted}; create table ${foreign.quoted}.customers (id int)`,
    );
    await installStock(owner.pool, old, 17);
    await owner.pool.query(`update ${old.quoted}.migrations set ts = '2020-01-01'`);
    for (const [schema, message] of [
      [foreign, /contains other objects/],
      [old, /at Graphile Worker level 17/],
    ] as const) {
      const before = await versions(owner.pool, schema);
      await assert.rejects(ensureSchema(owner.pool, schema), {
        code: "schema_unsupported",
        message,
      });
      assert.deepEqual(await versions(owner.pool, schema), before);
    }
  });
});
