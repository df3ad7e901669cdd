// Compares this library's schema with the one that Graphile Worker's migrations create, object by object, as
// PostgreSQL's catalogue describes them.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { runMigrations } from "graphile-worker";
import { emptyDatabase, migratedDatabase } from "../support/database.ts";
import { type TestPool, testPool } from "../support/test-pool.ts";

let ours: TestPool;
let stock: TestPool;

/** Returns the rows of a catalogue query from both schemas, without this library's additions. */
async function both(text: string): Promise<[ours: unknown[], stock: unknown[]]> {
  const rows = async ({ pool }: TestPool) =>
    (await pool.query<{ name: string }>(text)).rows.filter(({ name }) => !addition.test(name));
  const pair: [unknown[], unknown[]] = [await rows(ours), await rows(stock)];
  assert.notEqual(pair[1].length, 0, "the query returned no rows to compare");
  return pair;
}

const addition =
  /^_?_private_(workers|extensions)|^(worker_(heartbeat|deregister)|list_stale_workers|list_orphan_locked_workers|recover_dead_worker_jobs|delete_stale_workers)\b/;

const catalogues: Readonly<Record<string, string>> = {
  "Tables, views, indexes, sequences and composite types, with their row level security": `
    select relname as name, relkind, relpersistence, relrowsecurity, relforcerowsecurity,
      reloptions, relacl::text, obj_description(oid, 'pg_class') as comment
    from pg_class where relnamespace = 'worker'::regnamespace order by relname`,
  "Columns, in order, with types, defaults, generation, identity and nullability": `
    select relname as name, attnum, attname, format_type(atttypid, atttypmod) as type,
      attnotnull, attidentity, attgenerated, attstorage, attcompression, attcollation::regcollation,
      pg_get_expr(adbin, adrelid) as expression, col_description(attrelid, attnum) as comment
    from pg_attribute
    join pg_class on pg_class.oid = attrelid
    left join pg_attrdef on adrelid = attrelid and adnum = attnum
    where relnamespace = 'worker'::regnamespace and attnum > 0 and not attisdropped
    and relkind in ('r', 'v', 'c')
    order by relname, attnum`,
  // Not-null constraints are left out, because they have names only since PostgreSQL 18, and the server may choose
  // other names after an upgrade. The query of the columns compares which columns are nullable.
  "Constraints, with their names": `
    select conrelid::regclass::text as table, conname as name, contype, condeferrable, convalidated,
      pg_get_constraintdef(oid) as definition
    from pg_constraint where connamespace = 'worker'::regnamespace and contype <> 'n'
    order by conname`,
  Indexes: `
    select indexname as name, indexdef from pg_indexes
    where schemaname = 'worker' order by indexname`,
  Sequences: `
    select sequencename as name, data_type::text, start_value, min_value, max_value, increment_by,
      cycle, cache_size, pg_get_serial_sequence('worker.' || owner.relname, attname) as owned_by
    from pg_sequences
    join pg_depend on objid = ('worker.' || sequencename)::regclass and deptype = 'i'
    join pg_class as owner on owner.oid = refobjid
    join pg_attribute on attrelid = refobjid and attnum = refobjsubid
    where schemaname = 'worker' order by sequencename`,
  "The text of views": `
    select viewname as name, definition from pg_views where schemaname = 'worker'`,
  "Functions, with arguments, defaults, results and attributes": `
    select proname || '(' || pg_get_function_arguments(oid) || ')' as name,
      pg_get_function_result(oid) as result, prokind, provolatile, proisstrict, prosecdef,
      proleakproof, proparallel, proretset, procost, prorows, proconfig, proacl::text
    from pg_proc where pronamespace = 'worker'::regnamespace order by 1`,
  "Named types": `
    select typname as name, typtype, typcategory from pg_type
    where typnamespace = 'worker'::regnamespace order by typname`,
  "The ledger's rows": `
    select id::text as name, breaking from worker.migrations order by id`,
};

describe("The schema's catalogue", () => {
  before(async () => {
    ours = testPool((await migratedDatabase()).url);
    stock = testPool((await emptyDatabase()).url);
    await runMigrations({ pgPool: stock.pool, schema: "worker" });
  });
  after(() => Promise.all([ours.close(), stock.close()]));

  for (const [what, text] of Object.entries(catalogues)) {
    test(`${what}: no difference from Graphile Worker.`, async () => {
      const [mine, theirs] = await both(text);
      assert.deepEqual(mine, theirs);
    });
  }

  test("There are no triggers, rules or policies in either schema.", async () => {
    for (const { pool } of [ours, stock]) {
      const { rows } = await pool.query(`
        select tgname from pg_trigger join pg_class on pg_class.oid = tgrelid
        where relnamespace = 'worker'::regnamespace and not tgisinternal
        union all select policyname from pg_policies where schemaname = 'worker'
        union all select rulename from pg_rules where schemaname = 'worker'`);
      assert.deepEqual(rows, []);
    }
  });

  test("Graphile Worker's own migration finds nothing to do on this library's schema.", async () => {
    const ledger = "select * from worker.migrations order by id";
    const before = (await ours.pool.query(ledger)).rows;
    await runMigrations({ pgPool: ours.pool, schema: "worker" });
    assert.deepEqual((await ours.pool.query(ledger)).rows, before);
  });
});
