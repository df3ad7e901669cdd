// Tests concurrent migrations, by this library alone and together with Graphile Worker. No migration fails, and
// afterwards the schema is complete.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { runMigrations } from "graphile-worker";
import { migrate } from "../../../src/database/schema/migrate.ts";
import { type SchemaName, schemaName } from "../../../src/database/schema-name.ts";
import { emptyDatabase, type TestDatabase } from "../../support/database.ts";
import { installStock } from "../../support/stock-schema.ts";
import { type TestPool, testPool } from "../../support/test-pool.ts";

let database: TestDatabase;
let pools: TestPool[] = [];
let count = 0;

const fresh = (): SchemaName => schemaName(`race ${++count}`);
const kinds = (outcomes: { kind: string }[]) => outcomes.map(({ kind }) => kind).sort();

async function assertWhole(schema: SchemaName): Promise<void> {
  const pool = pools[0]?.pool;
  assert.ok(pool);
  const { rows } = await pool.query(
    `select array_agg(id order by id) as ids, sum(breaking::int)::int as breaking
     from ${schema.quoted}.migrations`,
  );
  assert.deepEqual(rows, [{ ids: Array.from({ length: 20 }, (_, i) => i + 1), breaking: 7 }]);
  const objects = await pool.query(
    `select count(*)::int as count from pg_class where relnamespace = to_regnamespace($1)
     and relkind in ('r', 'v', 'S')
     union all select count(*)::int from pg_proc where pronamespace = to_regnamespace($1)`,
    [schema.quoted],
  );
  assert.deepEqual(objects.rows, [{ count: 11 }, { count: 13 }]);
  const added = await pool.query(`select (${schema.quoted}.add_job('a')).id::text`);
  assert.deepEqual(added.rows, [{ id: "1" }]);
}

describe("Concurrent migrations", () => {
  before(async () => {
    database = await emptyDatabase();
    pools = Array.from({ length: 8 }, () => testPool(database.url, 1));
  });
  after(() => Promise.all(pools.map((pool) => pool.close())));

  test("Of eight concurrent migrations, one builds the schema and seven find it built.", async () => {
    for (let round = 0; round < 5; round++) {
      const schema = fresh();
      const outcomes = await Promise.all(pools.map(({ pool }) => migrate(pool, schema)));
      assert.deepEqual(kinds(outcomes), ["created", ...Array(7).fill("current")].sort());
      await assertWhole(schema);
    }
  });

  test("Eight concurrent migrations adopt one Graphile Worker installation once.", async () => {
    const schema = fresh();
    await installStock(pools[0]?.pool as TestPool["pool"], schema);
    const outcomes = await Promise.all(pools.map(({ pool }) => migrate(pool, schema)));
    assert.deepEqual(kinds(outcomes), ["adopted", ...Array(7).fill("current")].sort());
    await assertWhole(schema);
  });

  test("Concurrent migrations of different schemas of one database each create their schema.", async () => {
    const outcomes = await Promise.all(pools.map(({ pool }) => migrate(pool, fresh())));
    assert.deepEqual(new Set(kinds(outcomes)), new Set(["created"]));
  });

  test("When this library and Graphile Worker migrate one schema at the same time, no migration fails, and the schema is complete.", async (t) => {
    const seen = new Set<string>();
    for (let round = 0; round < 12; round++) {
      const schema = fresh();
      const [ours, stock] = [pools.slice(0, 4), pools.slice(4)];
      const migrations = stock.map(async ({ pool }) => {
        // This library starts after the delay below. Graphile Worker may then have applied some of its migrations.
        await runMigrations({ pgPool: pool, schema: schema.name });
        return { kind: "stock" };
      });
      await new Promise((resolve) => setTimeout(resolve, (round % 6) * 4));
      const outcomes = await Promise.all([
        ...ours.map(({ pool }) => migrate(pool, schema)),
        ...migrations,
      ]);
      for (const { kind } of outcomes) seen.add(kind);
      await assertWhole(schema);
    }
    t.diagnostic(`outcomes of the migrations: ${[...seen].join(", ")}`);
  });

  test("A schema with only an empty table of migrations, which Graphile Worker creates first, can be migrated.", async () => {
    const schema = fresh();
    const [one, two] = pools;
    assert.ok(one !== undefined && two !== undefined);
    await one.pool.query(
      `create schema ${schema.quoted};
       create table ${schema.quoted}.migrations (id int primary key, ts timestamptz default now() not null)`,
    );
    const outcomes = await Promise.all([
      migrate(one.pool, schema),
      runMigrations({ pgPool: two.pool, schema: schema.name }),
    ]);
    assert.match(outcomes[0].kind, /created|adopted/);
    await assertWhole(schema);
  });
});
