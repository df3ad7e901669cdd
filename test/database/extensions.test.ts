// Tests how a migration adds extensions to a schema, upgrades them step by step, leaves them unchanged or refuses them.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { silentLogger } from "../../src/base/logger.ts";
import { type Extension, extension } from "../../src/database/schema/extensions/extension.ts";
import { extensions } from "../../src/database/schema/extensions/index.ts";
import { type MigrationOptions, migrateBy } from "../../src/database/schema/migrate.ts";
import { assertUsableSchema, schemaState } from "../../src/database/schema/schema-state.ts";
import { type SchemaName, schemaName } from "../../src/database/schema-name.ts";
import { emptyDatabase } from "../support/database.ts";
import { installStock } from "../support/stock-schema.ts";
import { rolePool, type TestPool, testPool } from "../support/test-pool.ts";

// An extension for tests. The steps to versions 2 and 3 each add a row, so the rows show how often each step was run.
const steps = [
  `-- Notes.
--- create _private_notes
create table :schema._private_notes (text text not null);
--- create count_notes
create function :schema.count_notes() returns bigint language sql as $body$
  select 0::bigint
$body$;`,
  `--- change _private_notes
alter table :schema._private_notes add column id int generated always as identity;
insert into :schema._private_notes (text) values ('version 2 was here');
--- change count_notes
create or replace function :schema.count_notes() returns bigint language sql as $body$
  select count(*) from :schema._private_notes
$body$;
--- create _private_note_authors
create table :schema._private_note_authors (name text primary key);`,
  `--- change _private_notes
alter table :schema._private_notes add column at timestamptz not null default now();
insert into :schema._private_notes (text) values ('version 3 was here');`,
];
const broken = `--- change _private_notes
alter table :schema._private_notes add column at timestamptz;
--- change count_notes
select 1 / 0;`;

const notes = (version: number, added: Extension["added"] = "always", last = steps[version - 1]) =>
  extension({
    name: "notes",
    provides: "notes",
    added,
    steps: [...steps.slice(0, version - 1), last ?? ""],
  });
const withNotes = (...some: Extension[]) => [...extensions, ...some];

let url: string;
let owner: TestPool;
let count = 0;
const fresh = (): SchemaName => schemaName(`extended ${++count}`);
const migrate = (registry: readonly Extension[], schema: SchemaName, options?: MigrationOptions) =>
  migrateBy({ registry }, owner.pool, schema, options);

async function ledger(schema: SchemaName): Promise<Record<string, number>> {
  const { rows } = await owner.pool.query<{ name: string; version: number }>(
    `select name, version from ${schema.quoted}._private_extensions`,
  );
  return Object.fromEntries(rows.map(({ name, version }) => [name, version]));
}

async function texts(schema: SchemaName): Promise<string[]> {
  const { rows } = await owner.pool.query<{ text: string }>(
    `select text from ${schema.quoted}._private_notes`,
  );
  return rows.map(({ text }) => text).sort();
}

async function objects(schema: SchemaName): Promise<string[]> {
  const state = await schemaState({ client: owner.pool, schema }, withNotes(notes(3)));
  assert.ok(state.kind === "ready");
  return [...state.objects].filter((name) => name.includes("note"));
}

describe("An extension of the schema", () => {
  before(async () => {
    ({ url } = await emptyDatabase());
    owner = testPool(url);
  });
  after(() => owner.close());

  test("A new schema gets the newest version of each extension that is always added.", async () => {
    const schema = fresh();
    const outcome = await migrate(withNotes(notes(3)), schema);
    assert.deepEqual([outcome.kind, outcome.extensions], ["created", ["workers", "notes"]]);
    assert.deepEqual(await ledger(schema), { workers: 3, notes: 3 });
    assert.deepEqual(await texts(schema), ["version 2 was here", "version 3 was here"]);
  });

  test("A new extension is added to an existing schema.", async () => {
    const schema = fresh();
    await migrate(withNotes(), schema);
    const outcome = await migrate(withNotes(notes(1)), schema);
    assert.deepEqual([outcome.kind, outcome.extensions], ["upgraded", ["notes"]]);
    assert.deepEqual(await ledger(schema), { workers: 3, notes: 1 });
    assert.equal((await migrate(withNotes(notes(1)), schema)).kind, "current");
  });

  for (const [from, to, expected] of [
    [1, 2, ["mine", "version 2 was here"]],
    [2, 3, ["mine", "version 2 was here", "version 3 was here"]],
    [1, 3, ["mine", "version 2 was here", "version 3 was here"]],
  ] as const) {
    test(`An upgrade from version ${from} to ${to} runs each missing step once, and keeps the rows.`, async () => {
      const schema = fresh();
      await migrate(withNotes(notes(from)), schema);
      await owner.pool.query(`insert into ${schema.quoted}._private_notes (text) values ('mine')`);
      const outcome = await migrate(withNotes(notes(to)), schema);
      assert.deepEqual([outcome.kind, outcome.extensions], ["upgraded", ["notes"]]);
      assert.deepEqual(await ledger(schema), { workers: 3, notes: to });
      assert.deepEqual(await texts(schema), expected);
      assert.equal((await migrate(withNotes(notes(to)), schema)).kind, "current");
      assert.deepEqual(await texts(schema), expected);
    });
  }

  test("Eight concurrent migrations upgrade an extension once.", async () => {
    const pools = Array.from({ length: 8 }, () => testPool(url, 1));
    try {
      for (let round = 0; round < 3; round++) {
        const schema = fresh();
        await migrate(withNotes(notes(1)), schema);
        const outcomes = await Promise.all(
          pools.map(({ pool }) => migrateBy({ registry: withNotes(notes(3)) }, pool, schema)),
        );
        const kinds = outcomes.map(({ kind }) => kind).sort();
        assert.deepEqual(kinds, [...Array(7).fill("current"), "upgraded"]);
        assert.deepEqual(await texts(schema), ["version 2 was here", "version 3 was here"]);
      }
    } finally {
      await Promise.all(pools.map((pool) => pool.close()));
    }
  });

  test("Eight concurrent migrations add the size limit of workers' metadata once. Metadata above the limit become empty.", async () => {
    const pools = Array.from({ length: 8 }, () => testPool(url, 1));
    const before = extensions.map((one) =>
      one.name === "workers" ? extension({ ...one, steps: one.steps.slice(0, 2) }) : one,
    );
    const schema = fresh();
    await migrate(before, schema);
    await owner.pool.query(
      `insert into ${schema.quoted}._private_workers (id, last_heartbeat_at, metadata) values
         ('long', now(), jsonb_build_object('host', repeat('h', 1390000))),
         ('short', now(), '{"host": "h"}'), ('silent', now(), null)`,
    );
    await using app = await rolePool(
      url,
      owner.pool,
      (role) => `grant usage on schema ${schema.quoted} to ${role};
        grant select on all tables in schema ${schema.quoted} to ${role}`,
    );
    const options = { logger: silentLogger };
    const guest = await migrateBy({ registry: withNotes() }, app.pool, schema, options);
    assert.equal(guest.kind, "current");
    assert.match(guest.warnings.join(), /^worker heartbeats are (outdated|not available)/);
    try {
      const outcomes = await Promise.all(
        pools.map(({ pool }) => migrateBy({ registry: withNotes() }, pool, schema)),
      );
      const kinds = outcomes.map(({ kind }) => kind).sort();
      assert.deepEqual(kinds, [...Array(7).fill("current"), "upgraded"]);
    } finally {
      await Promise.all(pools.map((pool) => pool.close()));
    }
    const { rows } = await owner.pool.query(
      `select id, metadata from ${schema.quoted}._private_workers order by id`,
    );
    assert.deepEqual(rows, [
      { id: "long", metadata: {} },
      { id: "short", metadata: { host: "h" } },
      { id: "silent", metadata: null },
    ]);
    assert.deepEqual(await ledger(schema), { workers: 3 });
    const bound = await owner.pool.query(
      "select conname, convalidated from pg_constraint where conrelid = $1::text::regclass and contype = 'c'",
      [`${schema.quoted}._private_workers`],
    );
    assert.deepEqual(bound.rows, [
      { conname: "_private_workers_metadata_256_kib", convalidated: true },
    ]);
  });

  test("If a step fails, all steps are undone, and the error names the object at which the step failed.", async () => {
    const schema = fresh();
    await migrate(withNotes(notes(1)), schema);
    const before = await objects(schema);
    await assert.rejects(migrate(withNotes(notes(3, "always", broken)), schema), {
      code: "database_error",
      message:
        /^the extension "notes" could not be upgraded from version 1 to 3, at "count_notes": .*division by zero; nothing has been changed$/,
    });
    assert.deepEqual(await ledger(schema), { workers: 3, notes: 1 });
    assert.deepEqual([await objects(schema), await texts(schema)], [before, []]);
    assert.equal((await migrate(withNotes(notes(3)), schema)).kind, "upgraded");
    assert.deepEqual(await texts(schema), ["version 2 was here", "version 3 was here"]);
  });

  test("If a schema has a newer version of an extension than this library supports, the schema is refused, and the error recommends a newer version of the library.", async () => {
    const schema = fresh();
    await migrate(withNotes(notes(3)), schema);
    const refusal = {
      code: "schema_unsupported",
      message: `the schema "${schema.name}" has version 3 of the extension "notes", and this version of worker supports it up to 2; install a newer version of worker`,
    };
    const older = withNotes(notes(2));
    await assert.rejects(migrate(older, schema), refusal);
    await assert.rejects(assertUsableSchema({ client: owner.pool, schema }, older), refusal);
    assert.deepEqual(await ledger(schema), { workers: 3, notes: 3 });
  });

  test("An unknown extension is not changed, and a warning names it.", async () => {
    const schema = fresh();
    await migrate(withNotes(notes(3)), schema);
    const { kind, warnings } = await migrate(withNotes(), schema);
    assert.equal(kind, "current");
    assert.match(warnings.join(), /an extension "notes" that this version .* does not change/);
    await assertUsableSchema({ client: owner.pool, schema });
    assert.deepEqual(await ledger(schema), { workers: 3, notes: 3 });
  });

  test("An on-request extension is added only if it is requested, and later upgraded without a request.", async () => {
    const schema = fresh();
    const registry = withNotes(notes(1, "on request"));
    assert.deepEqual((await migrate(registry, schema)).extensions, ["workers"]);
    assert.equal((await migrate(registry, schema)).kind, "current");
    const requested = await migrate(registry, schema, { extensions: ["notes"] });
    assert.deepEqual([requested.kind, requested.extensions], ["upgraded", ["notes"]]);
    const later = await migrate(withNotes(notes(2, "on request")), schema);
    assert.deepEqual([later.kind, later.extensions], ["upgraded", ["notes"]]);
    const other = fresh();
    const both = await migrate(registry, other, { extensions: ["notes"] });
    assert.deepEqual([both.kind, both.extensions], ["created", ["workers", "notes"]]);
  });

  test("A request for an unknown extension is refused before anything changes.", async () => {
    const schema = fresh();
    await assert.rejects(migrate(withNotes(notes(1)), schema, { extensions: ["nots"] }), {
      code: "bad_input",
      message:
        'extensions: unknown extension "nots"; expected one of "workers", "operations", "controls", "schedules", "limits", "notes"',
    });
    assert.equal((await schemaState({ client: owner.pool, schema })).kind, "absent");
  });

  test("Without privileges a migration changes nothing, and fails only if an extension was requested.", async () => {
    const schema = fresh();
    await migrate(withNotes(), schema);
    await using app = await rolePool(
      url,
      owner.pool,
      (role) => `grant usage on schema ${schema.quoted} to ${role};
        grant select on all tables in schema ${schema.quoted} to ${role}`,
    );
    const options = { logger: silentLogger };
    const plan = { registry: withNotes(notes(1, "on request")) };
    await assert.rejects(migrateBy(plan, app.pool, schema, { ...options, extensions: ["notes"] }), {
      code: "database_error",
      message: /may not do this/,
    });
    const outcome = await migrateBy({ registry: withNotes(notes(1)) }, app.pool, schema, options);
    assert.equal(outcome.kind, "current");
    assert.match(
      outcome.warnings.join(),
      /^notes are not available: .*run "worker migrate --schema='extended \d+'" as/,
    );
  });

  test("A role that may not read the table _private_extensions can use the schema.", async () => {
    const schema = fresh();
    await migrate(withNotes(), schema);
    await using guest = await rolePool(
      url,
      owner.pool,
      (role) => `grant usage on schema ${schema.quoted} to ${role};
        grant select on ${schema.quoted}.migrations to ${role}`,
    );
    const state = await schemaState({ client: guest.pool, schema });
    assert.ok(state.kind === "ready");
    assert.deepEqual([state.versions, [...state.extensions]], [null, ["workers"]]);
  });

  test("Objects that another program has created are never changed; only missing objects are added.", async () => {
    const schema = fresh();
    await installStock(owner.pool, schema);
    await owner.pool.query(`create table ${schema.quoted}._private_notes (theirs text)`);
    for (const version of [1, 2, 3]) {
      const { extensions: done } = await migrate(withNotes(notes(version)), schema);
      assert.equal(
        done.includes("notes"),
        version < 3,
        "versions 1 and 2 add objects, version 3 adds none",
      );
      assert.deepEqual(await ledger(schema), { workers: 3, notes: 0 });
    }
    assert.deepEqual(await objects(schema), [
      "_private_notes",
      "count_notes",
      "_private_note_authors",
    ]);
    const { rows } = await owner.pool.query(
      "select array_agg(attname::text) as columns from pg_attribute where attrelid = $1::text::regclass and attnum > 0",
      [`${schema.quoted}._private_notes`],
    );
    assert.deepEqual(rows, [{ columns: ["theirs"] }]);
  });

  test("A lost object is created again, in its newest version.", async () => {
    const schema = fresh();
    await migrate(withNotes(notes(3)), schema);
    await owner.pool.query(`drop function ${schema.quoted}.count_notes()`);
    const outcome = await migrate(withNotes(notes(3)), schema);
    assert.deepEqual([outcome.kind, outcome.extensions], ["upgraded", ["notes"]]);
    const { rows } = await owner.pool.query(`select ${schema.quoted}.count_notes()::int as count`);
    assert.deepEqual(rows, [{ count: 2 }]);
  });
});

test("In this library's extensions, each object has a unique name, and is created before it is changed.", () => {
  const all = extensions.flatMap(({ objects: made }) => made);
  assert.equal(new Set(all).size, all.length);
  for (const { name, version, parts, objects: made } of extensions) {
    assert.equal(version, parts.length, name);
    for (const step of parts) assert.ok(step.length > 0, `${name} has an empty step`);
    const seen = new Set<string>();
    for (const { does, object } of parts.flat()) {
      if (does === "create") seen.add(object);
      else assert.ok(seen.has(object), `${name} changes ${object}, which does not exist yet`);
    }
    assert.deepEqual([...seen], made);
  }
});
