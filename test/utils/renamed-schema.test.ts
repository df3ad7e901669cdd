// Tests a schema whose functions contain the name of another schema. After a schema was renamed, its functions contain
// the old name, because PostgreSQL does not change the bodies of functions. The operations must work nevertheless, and
// migrate() must repair the functions.
import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { readSchemaDrift } from "../../src/database/inspect/schema-drift.ts";
import { migrate } from "../../src/database/schema/migrate.ts";
import { schemaName } from "../../src/database/schema-name.ts";
import { boundOperations } from "../../src/utils/bound-operations.ts";
import { testQueue } from "../queue/queue-database.ts";

const queue = testQueue();
const names = ["jobs", "odd\"\\'$1 name", "worker"];
const bound = (name: string) =>
  boundOperations({ client: queue.pool, schema: schemaName(name) }, false, null);
const twice = [0, 1].map(() => ({ identifier: "t", spec: { jobKey: "k" } }));
const count = async (name: string) => {
  const [row] = await queue.sql<{ n: number }>(
    `select count(*)::int as n from ${schemaName(name).quoted}._private_jobs`,
  );
  return row?.n;
};

beforeEach(async () => {
  for (const name of names.slice(0, -1)) {
    await queue.sql(`drop schema if exists ${schemaName(name).quoted} cascade`);
  }
  await migrate(queue.pool, schemaName(), { extensions: ["operations"] });
});

for (const name of names.slice(0, -1)) {
  test(`In a renamed schema each operation works on the tables of that schema: ${name}.`, async () => {
    await queue.sql(`alter schema worker rename to ${schemaName(name).quoted}`);
    await migrate(queue.pool, schemaName(), { extensions: ["operations"] });
    const here = bound(name);
    const there = bound("worker");
    const [job] = await here.addJobs([{ identifier: "t" }]);
    const other = await there.addJob("t", {}, { jobKey: "k" });
    const ids = [job?.id ?? "", "1000"];
    assert.ok(other);
    assert.equal((await here.removeJob("k")).outcome, "absent");
    assert.deepEqual(
      (await here.addJobs(twice)).map((job) => job?.revision),
      [0, 1],
    );
    assert.equal((await here.removeJob("k")).outcome, "removed");
    assert.equal((await here.addJob("t", {}, { jobKey: "k" }))?.revision, 0);
    assert.equal((await here.removeJob("k")).outcome, "removed");
    assert.equal((await here.permanentlyFailJobs(ids)).length, 1);
    assert.equal((await here.rescheduleJobs(ids, { attempts: 0 })).length, 1);
    assert.deepEqual([await count(name), await count("worker")], [1, 1]);
    const { strays } = await readSchemaDrift({ client: queue.pool, schema: schemaName(name) });
    assert.ok(strays.some((one) => one.name === "add_job" && one.schemas[0] === '"worker"'));

    await migrate(queue.pool, schemaName(name));
    const added = await here.addJob("t", {}, { jobKey: "k" });
    assert.equal((await here.removeJob("k")).job?.id, added?.id);
    assert.equal((await here.completeJobs([job?.id ?? ""])).length, 1);
    assert.deepEqual([await count(name), await count("worker")], [0, 1]);
    const after = await readSchemaDrift({ client: queue.pool, schema: schemaName(name) });
    assert.deepEqual(after.strays, []);
  });
}

test("A connection that was opened before the schema was renamed, or renamed back, can still add jobs.", async () => {
  const { addJob } = bound("worker");
  await addJob("t", {}, { jobKey: "k" });
  await queue.sql("alter schema worker rename to jobs");
  assert.equal((await bound("jobs").addJob("t", {}, { jobKey: "k" }))?.revision, 1);
  assert.deepEqual(
    (await bound("jobs").addJobs(twice)).map((job) => job?.revision),
    [2, 3],
  );
  await queue.sql("alter schema jobs rename to worker");
  assert.equal((await addJob("t", {}, { jobKey: "k" }))?.revision, 4);
});

test("A function that uses a table of the queue in another schema is reported, and addJobs() does not call the function.", async () => {
  const [row] = await queue.sql<{ text: string }>(
    "select pg_get_functiondef('worker.add_jobs'::regproc) as text",
  );
  const text = row?.text ?? "";
  await queue.sql(
    text.replace('"worker"._private_tasks as tasks on', '"other"._private_tasks as tasks on'),
  );
  const { strays } = await readSchemaDrift(queue.db);
  assert.deepEqual(
    strays.map(({ name, schemas }) => [name, schemas]),
    [["add_jobs", ['"other"']]],
  );
  assert.equal((await bound("worker").addJobs(twice)).length, 2);
  await queue.sql(text);
});

test("If a user has added a call of another schema's function to a function of the queue, migrate() keeps the call. If the edited function uses a table of the queue in the wrong schema, migrate() corrects the schema.", async () => {
  const definition = async () => {
    const [row] = await queue.sql<{ text: string }>(
      "select pg_get_functiondef('worker.add_jobs'::regproc) as text",
    );
    return row?.text ?? "";
  };
  const text = await definition();
  const edited = text.replace(/\bbegin\b/, 'begin perform "app".audit();');
  assert.notEqual(edited, text);
  await queue.sql(edited);
  await migrate(queue.pool, schemaName());
  assert.equal(await definition(), edited);
  assert.deepEqual((await readSchemaDrift(queue.db)).strays, []);
  const other = '"other"._private_tasks as tasks on';
  await queue.sql(edited.replace('"worker"._private_tasks as tasks on', other));
  await migrate(queue.pool, schemaName());
  assert.equal(await definition(), edited);
  await queue.sql(text);
});
