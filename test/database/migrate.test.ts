// Tests how migrate() builds a missing schema, and which schemas migrate() refuses because they contain objects of
// other programs.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type pg from "pg";
import type { WorkerError } from "../../src/base/errors.ts";
import { migrate } from "../../src/database/schema/migrate.ts";
import { assertUsableSchema, schemaState } from "../../src/database/schema/schema-state.ts";
import { type SchemaName, schemaName } from "../../src/database/schema-name.ts";
import { emptyDatabase, type TestDatabase } from "../support/database.ts";
import { rolePool, type TestPool, testPool } from "../support/test-pool.ts";

let database: TestDatabase;
let owner: TestPool;
let count = 0;

const fresh = (): SchemaName => schemaName(`fresh ${++count}`);

const created = { kind: "created", level: 20, extensions: ["workers"], warnings: [] };
const current = { kind: "current", level: 20, extensions: [], warnings: [] };

async function objects(pool: pg.Pool, schema: SchemaName): Promise<string[]> {
  const { rows } = await pool.query<{ name: string }>(
    `select relname::text as name from pg_class where relnamespace = to_regnamespace($1)
     union select proname::text from pg_proc where pronamespace = to_regnamespace($1)`,
    [schema.quoted],
  );
  return rows.map(({ name }) => name);
}

const asRole = (grants: (role: string) => string) => rolePool(database.url, owner.pool, grants);

describe("migrate", () => {
  before(async () => {
    database = await emptyDatabase();
    owner = testPool(database.url);
  });
  after(() => owner.close());

  test("A migration builds the schema, and a second one finds nothing to do.", async () => {
    const schema = fresh();
    assert.deepEqual(await migrate(owner.pool, schema), created);
    assert.deepEqual(await migrate(owner.pool, schema), current);
    const state = await assertUsableSchema({ client: owner.pool, schema });
    assert.equal(state.origin, "ours");
    assert.deepEqual([...state.extensions], ["workers"]);
  });

  for (const name of [
    '"; drop schema public; --',
    "it's $body$, $$ and :schema",
    "two\nlines\\",
    "Überstunden 日本",
    "$body$$bodyy$",
    "select",
    "x".repeat(63),
  ]) {
    test(`A schema may be named ${JSON.stringify(name)}.`, async () => {
      const schema = schemaName(name);
      assert.deepEqual(await migrate(owner.pool, schema), created);
      assert.deepEqual(await migrate(owner.pool, schema), current);
      const { rows } = await owner.pool.query(
        `select (${schema.quoted}.add_job('task', queue_name => 'queue', job_key => 'key')).id,
           ${schema.quoted}.worker_heartbeat('me') is null as beaten,
           ${schema.quoted}.recover_dead_worker_jobs('{}') as recovered`,
      );
      assert.equal(rows.length, 1);
      assert.deepEqual((await owner.pool.query("select to_regnamespace('public')::text")).rows, [
        { to_regnamespace: "public" },
      ]);
    });
  }

  test("A schema that an administrator has created is migrated without the privilege to create schemas.", async () => {
    const schema = fresh();
    await using app = await asRole(
      (role) =>
        `create schema ${schema.quoted}; grant usage, create on schema ${schema.quoted} to ${role}`,
    );
    assert.deepEqual(await migrate(app.pool, schema), created);
    assert.deepEqual(await migrate(app.pool, schema), current);
  });

  test("Without the privilege to create schemas, the error message has the statement that the database's owner must run.", async () => {
    const schema = fresh();
    await using app = await asRole(() => "select");
    await assert.rejects(migrate(app.pool, schema), (error: WorkerError) => {
      assert.equal(error.code, "database_error");
      assert.match(error.message, /let the database's owner run: create schema "fresh \d+"/);
      return true;
    });
    assert.deepEqual(await schemaState({ client: app.pool, schema }), { kind: "absent" });
  });

  test("If the database accepts no writes, an existing schema is used, and a missing one is an error.", async () => {
    const [built, absent] = [fresh(), fresh()];
    await migrate(owner.pool, built);
    await using reader = await asRole(
      (role) => `alter role ${role} set default_transaction_read_only = on;
        grant usage on schema ${built.quoted} to ${role};
        grant select on all tables in schema ${built.quoted} to ${role}`,
    );
    assert.deepEqual(await migrate(reader.pool, built), current);
    await assert.rejects(migrate(reader.pool, absent), {
      code: "read_only_server",
      message: /accepts no writes .* standby/,
    });
  });

  for (const [what, sql] of Object.entries({
    "a table named jobs": `create table "jobs" (id int)`,
    "a ledger of another program's migrations":
      "create table migrations (id serial, name text); create table customers (id int)",
    "a ledger which only looks like Graphile Worker's":
      "create table migrations (id int, ts timestamptz); insert into migrations values (7, now())",
    "a table beside an empty ledger":
      "create table migrations (id int, ts timestamptz); create table customers (id int)",
    "a ledger at level 20 without the tables of Graphile Worker":
      "create table migrations (id int, ts timestamptz); insert into migrations values (20, now()); create view jobs as select 1 as one",
    "a function": "create function f() returns int language sql as 'select 1'",
    "a type": "create type mood as enum ('good')",
  })) {
    test(`A schema that contains ${what} is refused and not changed.`, async () => {
      const schema = fresh();
      await owner.pool.query(
        `create schema ${schema.quoted}; set search_path to ${schema.quoted}; ${sql}; reset search_path`,
      );
      const before = await objects(owner.pool, schema);
      const refusal = {
        code: "schema_unsupported",
        message: /^the schema "fresh \d+" .*--schema$/,
      };
      await assert.rejects(migrate(owner.pool, schema), refusal);
      await assert.rejects(assertUsableSchema({ client: owner.pool, schema }), refusal);
      assert.deepEqual(await objects(owner.pool, schema), before);
    });
  }

  test("Objects of a PostgreSQL extension do not count as objects of another program.", async () => {
    const schema = fresh();
    await owner.pool.query(
      `create schema ${schema.quoted}; create extension if not exists pgcrypto schema ${schema.quoted}`,
    );
    assert.deepEqual(await migrate(owner.pool, schema), created);
  });

  test("A missing schema and an empty schema are both reported as missing, with advice.", async () => {
    const schema = fresh();
    const db = { client: owner.pool, schema };
    const missing = { code: "schema_missing", message: /create it with migrate\(\)/ };
    await assert.rejects(assertUsableSchema(db), missing);
    await owner.pool.query(`create schema ${schema.quoted}`);
    await assert.rejects(assertUsableSchema(db), missing);
  });

  test("A migration that loses its connection half-way leaves nothing in the database, and can be repeated.", async () => {
    const schema = fresh();
    await owner.pool.query(`
      create function public.die() returns event_trigger language plpgsql as $$
      begin
        if exists (
          select from pg_event_trigger_ddl_commands() where object_identity like '%worker_heartbeat%'
        ) then
          perform pg_terminate_backend(pg_backend_pid());
        end if;
      end $$;
      create event trigger die on ddl_command_end execute function public.die()`);
    try {
      await assert.rejects(migrate(owner.pool, schema), { code: "database_unreachable" });
      assert.deepEqual(await schemaState({ client: owner.pool, schema }), { kind: "absent" });
    } finally {
      await owner.pool.query("drop event trigger die; drop function public.die()");
    }
    assert.deepEqual(await migrate(owner.pool, schema), created);
  });

  test("An aborted signal ends the wait for another migration.", async () => {
    const schema = fresh();
    const other = await owner.pool.connect();
    try {
      await other.query(
        "select pg_advisory_lock(hashtextextended('worker:migrate:' || $1::text, 0))",
        [schema.name],
      );
      const controller = new AbortController();
      const waiting = migrate(owner.pool, schema, { signal: controller.signal });
      setTimeout(() => controller.abort(), 100);
      await assert.rejects(waiting, { code: "aborted" });
    } finally {
      await other.query("select pg_advisory_unlock_all()");
      other.release();
    }
    assert.deepEqual(await schemaState({ client: owner.pool, schema }), { kind: "absent" });
  });

  test("A pool of one connection is enough, and the connection is released.", async () => {
    const schema = fresh();
    await using single = testPool(database.url, 1);
    assert.deepEqual(await migrate(single.pool, schema), created);
    assert.equal(single.pool.idleCount, 1);
    assert.deepEqual(await migrate(single.pool, schema), current);
  });
});
