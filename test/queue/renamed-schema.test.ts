// A schema that was renamed, or restored from an edited dump: its functions hold another schema's name.
import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import type { WorkerError } from "../../src/base/errors.ts";
import { readSchemaDrift } from "../../src/database/inspect/schema-drift.ts";
import { migrate } from "../../src/database/schema/migrate.ts";
import { schemaName } from "../../src/database/schema-name.ts";
import { boundOperations } from "../../src/queue/bound-operations.ts";
import { testQueue } from "./queue-database.ts";

const queue = testQueue();
const names = ["jobs", "odd\"\\'$1 name", "worker"];
const bound = (name: string) =>
  boundOperations({ client: queue.pool, schema: schemaName(name) }, false, null);
const refusal =
  (name: string, other = "worker") =>
  (error: unknown) => {
    const { code, message } = error as WorkerError;
    assert.equal(code, "schema_unsupported");
    assert.match(message, /^the function \w+ of the schema .*; run "worker migrate" as its owner/);
    assert.ok(message.includes(`"${name}" works on the tables of the schema "${other}"`), message);
    return true;
  };
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
  test(`Only what the functions of a renamed schema would do is refused: ${name}.`, async () => {
    await queue.sql(`alter schema worker rename to ${schemaName(name).quoted}`);
    await migrate(queue.pool, schemaName(), { extensions: ["operations"] });
    const here = bound(name);
    const there = bound("worker");
    // Without a key no function is called, so this is right.
    const [job] = await here.addJobs([{ identifier: "t" }]);
    const other = await there.addJob("t", {}, { jobKey: "k" });
    const ids = [job?.id ?? "", "1000"];
    assert.ok(other);
    await assert.rejects(here.addJobs(twice), refusal(name));
    // What works without them finds the jobs of its own schema only.
    assert.equal((await here.removeJob("k")).outcome, "absent");
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

test("A rename under an open connection is noticed at the next call, and one back as well.", async () => {
  const { addJob } = bound("worker");
  await addJob("t", {}, { jobKey: "k" });
  await queue.sql("alter schema worker rename to jobs");
  assert.equal((await bound("jobs").addJob("t", {}, { jobKey: "k" }))?.revision, 1);
  await assert.rejects(bound("jobs").addJobs(twice), refusal("jobs"));
  await queue.sql("alter schema jobs rename to worker");
  assert.equal((await addJob("t", {}, { jobKey: "k" }))?.revision, 2);
});

test("A function of which one line names another schema is refused.", async () => {
  const [row] = await queue.sql<{ text: string }>(
    "select pg_get_functiondef('worker.add_jobs'::regproc) as text",
  );
  const text = row?.text ?? "";
  await queue.sql(
    text.replace('"worker"._private_tasks as tasks on', '"other"._private_tasks as tasks on'),
  );
  await assert.rejects(bound("worker").addJobs(twice), refusal("worker", "other"));
  await queue.sql(text);
});
