// Tests migrate() for schemas that another program has created. migrate() adds this library's tables and functions, and
// changes no other objects, except functions whose bodies still contain the old name of a renamed schema. Also tests
// the SQL functions that list stale and unknown workers, and recover the workers' jobs.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { migrate } from "../../src/database/schema/migrate.ts";
import {
  assertUsableSchema,
  KNOWN_LEVEL,
  type ReadySchema,
  schemaState,
} from "../../src/database/schema/schema-state.ts";
import { type SchemaName, schemaName } from "../../src/database/schema-name.ts";
import { emptyDatabase } from "../support/database.ts";
import { installRustPort, installStock } from "../support/stock-schema.ts";
import { rolePool, type TestPool, testPool } from "../support/test-pool.ts";

let url: string;
let owner: TestPool;
let count = 0;

const fresh = (): SchemaName => schemaName(`graphile ${++count}`);
const state = (schema: SchemaName) => schemaState({ client: owner.pool, schema });

/** Returns the schema's relations and functions, each with the transaction that last wrote its catalogue row. */
async function versions(schema: SchemaName): Promise<Map<string, string>> {
  const { rows } = await owner.pool.query<{ name: string; xmin: string }>(
    `select 'relation ' || relname as name, xmin::text from pg_class
     where relnamespace = to_regnamespace($1)
     union all
     select 'function ' || proname, xmin::text from pg_proc where pronamespace = to_regnamespace($1)`,
    [schema.quoted],
  );
  return new Map(rows.map(({ name, xmin }) => [name, xmin]));
}

async function ledger(schema: SchemaName): Promise<unknown[]> {
  return (await owner.pool.query(`select * from ${schema.quoted}.migrations order by id`)).rows;
}

async function extensionVersion(schema: SchemaName): Promise<number> {
  const { rows } = await owner.pool.query(
    `select name, version from ${schema.quoted}._private_extensions`,
  );
  assert.equal(rows.length, 1);
  assert.equal(rows[0].name, "workers");
  return rows[0].version;
}

async function assertAdopted(schema: SchemaName, level: number): Promise<ReadySchema> {
  const [objects, steps] = [await versions(schema), await ledger(schema)];
  const outcome = await migrate(owner.pool, schema);
  assert.equal(outcome.kind, "adopted");
  assert.equal(outcome.level, level);
  const after = await versions(schema);
  for (const [name, xmin] of objects) assert.equal(after.get(name), xmin, `${name} is untouched`);
  assert.deepEqual(await ledger(schema), steps);
  assert.equal((await migrate(owner.pool, schema)).kind, "current");
  return assertUsableSchema({ client: owner.pool, schema });
}

describe("An existing installation", () => {
  before(async () => {
    ({ url } = await emptyDatabase());
    owner = testPool(url);
  });
  after(() => owner.close());

  for (const level of [18, 19, 20]) {
    test(`A Graphile Worker installation at level ${level} is usable, and adopted unchanged.`, async () => {
      const schema = fresh();
      await installStock(owner.pool, schema, level);
      const before = await assertUsableSchema({ client: owner.pool, schema });
      assert.equal(before.origin, "graphile");
      assert.equal(before.level, level);
      assert.deepEqual([...before.extensions], []);
      const after = await assertAdopted(schema, level);
      assert.equal(after.origin, "ours");
      assert.deepEqual([...after.extensions], ["workers"]);
      assert.equal(await extensionVersion(schema), 3);
    });
  }

  for (const level of [1, 10, 11, 16, 17]) {
    test(`An installation at level ${level} is refused, and the message has the upgrade command.`, async () => {
      const schema = fresh();
      await installStock(owner.pool, schema, level);
      await owner.pool.query(
        `update ${schema.quoted}.migrations set ts = now() - interval '1 day'`,
      );
      const objects = await versions(schema);
      const refusal = {
        code: "schema_unsupported",
        message: new RegExp(`at Graphile Worker level ${level}, .*npx graphile-worker@0.16.6`),
      };
      await assert.rejects(migrate(owner.pool, schema), refusal);
      await assert.rejects(assertUsableSchema({ client: owner.pool, schema }), refusal);
      assert.deepEqual(await versions(schema), objects);
    });
  }

  test("An installation at level 10 is refused, too, if its table of migrations has no column `breaking`.", async () => {
    const schema = fresh();
    await installStock(owner.pool, schema, 10);
    await owner.pool.query(
      `update ${schema.quoted}.migrations set ts = '2020-01-01';
       alter table ${schema.quoted}.migrations drop column breaking`,
    );
    await assert.rejects(migrate(owner.pool, schema), { message: /at Graphile Worker level 10/ });
  });

  test("A newer installation with a breaking step is refused.", async () => {
    const schema = fresh();
    await installStock(owner.pool, schema);
    await owner.pool.query(
      `insert into ${schema.quoted}.migrations (id, breaking) values (21, true), (22, false)`,
    );
    const refusal = {
      code: "schema_unsupported",
      message: /level 22 and has the breaking change 21; .* install a newer version/,
    };
    await assert.rejects(migrate(owner.pool, schema), refusal);
    await assert.rejects(assertUsableSchema({ client: owner.pool, schema }), refusal);
  });

  test("A newer installation without breaking steps is adopted; each call of migrate() returns a warning.", async () => {
    const schema = fresh();
    await installStock(owner.pool, schema);
    await owner.pool.query(`insert into ${schema.quoted}.migrations (id) values (21)`);
    for (const kind of ["adopted", "current"]) {
      const outcome = await migrate(owner.pool, schema);
      assert.equal(outcome.kind, kind);
      assert.equal(outcome.level, 21);
      assert.match(
        outcome.warnings.join(),
        /level 21, and this version of worker supports levels up to 20/,
      );
    }
  });

  test("An installation of Graphile Worker's Rust port is recognised, and its objects are kept.", async () => {
    const schema = fresh();
    await installRustPort(owner.pool, schema);
    const before = await state(schema);
    assert.ok(before.kind === "ready");
    assert.equal(before.origin, "rust-port");
    assert.deepEqual([...before.extensions], ["workers"]);
    const after = await assertAdopted(schema, KNOWN_LEVEL);
    assert.equal(after.objects.size, 7, "the missing functions have been added");
    assert.equal(
      await extensionVersion(schema),
      0,
      "the extension has version 0, so no migration replaces the port's functions",
    );
    await owner.pool.query(`select ${schema.quoted}.worker_heartbeat('w', '{"a": 1}')`);
    const { rows } = await owner.pool.query(
      `select * from ${schema.quoted}.list_stale_workers(interval '-1 s')`,
    );
    assert.deepEqual(rows, [{ worker_id: "w" }]);
  });

  test("If the role may not create objects in the schema, an installation is used unchanged, with a warning.", async () => {
    const schema = fresh();
    await installStock(owner.pool, schema);
    await using guest = await rolePool(
      url,
      owner.pool,
      (role) => `grant usage on schema ${schema.quoted} to ${role};
        grant select on ${schema.quoted}.migrations to ${role}`,
    );
    const outcome = await migrate(guest.pool, schema);
    assert.equal(outcome.kind, "current");
    assert.match(
      outcome.warnings.join(),
      /heartbeats are not available.*run "worker migrate --schema='graphile \d+'" as/,
    );
    assert.equal((await versions(schema)).has("relation _private_workers"), false);
  });

  test("recover_dead_worker_jobs() unlocks the jobs and queues of the given workers, and keeps the number of attempts.", async () => {
    const schema = fresh();
    const s = schema.quoted;
    await migrate(owner.pool, schema);
    await owner.pool.query(`
      select ${s}.add_jobs(array(select json_populate_recordset(null::${s}.job_spec, '[
        {"identifier": "a", "queue_name": "q"},
        {"identifier": "a", "run_at": "2030-01-01T00:00:00Z"},
        {"identifier": "a"}
      ]')));
      update ${s}._private_jobs set attempts = 3, locked_at = now(),
        locked_by = case id when 3 then 'alive' else 'dead' end;
      update ${s}._private_job_queues set locked_at = now(), locked_by = 'dead';
      select ${s}.worker_heartbeat('alive')`);
    const orphans = await owner.pool.query(
      `select * from ${s}.list_orphan_locked_workers(interval '-1 s')`,
    );
    assert.deepEqual(orphans.rows, [{ worker_id: "dead" }]);
    const { rows } = await owner.pool.query(
      `select ${s}.recover_dead_worker_jobs('{dead,unknown}', '1 minute') as recovered`,
    );
    assert.deepEqual(rows, [{ recovered: 2 }]);
    const jobs = await owner.pool.query(`
      select attempts, locked_by, last_error, run_at > now() + interval '59 s' as delayed,
        run_at > now() + interval '2 minutes' as later
      from ${s}._private_jobs order by id`);
    const recovered = {
      attempts: 3,
      locked_by: null,
      last_error: "Recovered: worker dead died during this job",
    };
    assert.deepEqual(jobs.rows, [
      { ...recovered, delayed: true, later: false },
      { ...recovered, delayed: true, later: true },
      { attempts: 3, locked_by: "alive", last_error: null, delayed: false, later: false },
    ]);
    const queues = await owner.pool.query(`select locked_by from ${s}._private_job_queues`);
    assert.deepEqual(queues.rows, [{ locked_by: null }]);
  });
});
