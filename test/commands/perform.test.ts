// Tests perform(), which runs a declared command: the result of the command, and the records that the caller receives.
import assert from "node:assert/strict";
import { mock, test } from "node:test";
import { silentLogger } from "../../src/base/logger.ts";
import type { Command } from "../../src/commands/declare/command.ts";
import { commands } from "../../src/commands/index.ts";
import { type CommandRecord, type PerformOptions, perform } from "../../src/commands/perform.ts";
import { addJobs } from "../../src/queue/add/add-jobs.ts";
import { lockJob, testQueue } from "../queue/queue-database.ts";

const queue = testQueue();

const named = (name: string): Command =>
  commands.find((command) => command.name === name) ?? assert.fail(name);

async function run(name: string, input: object, more: Partial<PerformOptions> = {}) {
  const records: CommandRecord[] = [];
  const done = perform(named(name), queue.db, input as Record<string, unknown>, {
    pool: queue.pool,
    logger: silentLogger,
    signal: new AbortController().signal,
    record: (record) => void records.push(record),
    ...more,
  });
  return { records, done: await done.catch((error: Error) => error) };
}

const add = (count: number) =>
  addJobs(
    queue.db,
    Array.from({ length: count }, () => ({ identifier: "t" })),
  );

test("A result is partial if the command changed only some of the jobs, or none.", async () => {
  const [first, second, third] = await add(3);
  const ids = [first?.id, second?.id, third?.id, first?.id];
  await lockJob(queue, second?.id ?? "");
  const some = await run("complete", { ids });
  assert.ok(!(some.done instanceof Error));
  assert.deepEqual(some.done.tally, { requested: 3, done: 2 });
  assert.equal(some.done.isPartial, true);
  const json = JSON.parse(some.done.json);
  assert.deepEqual([json.requested, json.done, json.jobs.length], [3, 2, 2]);
  const absent = await run("remove", { key: "unknown text" });
  assert.ok(!(absent.done instanceof Error) && absent.done.isPartial);
  const [whole] = await add(1);
  const all = await run("retry", { ids: [whole?.id] });
  assert.ok(!(all.done instanceof Error) && !all.done.isPartial);
});

test("If a job is added with the deadline `now`, its deadline is the present time by the database's clock, not by the clock of the process.", async () => {
  mock.timers.enable({ apis: ["Date"], now: 0 });
  try {
    const unique = { unique_by: ["args"], unique_while: "waiting" };
    const { done } = await run("add", { identifier: "t", deadline: "now", ...unique });
    assert.ok(!(done instanceof Error), String(done));
  } finally {
    mock.timers.reset();
  }
  const [row] = await queue.sql<{ age: number }>(
    `select extract(epoch from now()) - substr(flag, 10)::bigint / 1000 as age
     from worker._private_jobs, jsonb_object_keys(flags) as flag where flag like 'deadline:%'`,
  );
  assert.ok(Number(row?.age) < 3_600, `the deadline is ${row?.age} s ago`);
});

test("A performed command leaves one record, with its targets, its request and its changes.", async () => {
  const [job] = await add(1);
  const { records } = await run("fail", { ids: [job?.id], reason: "r" }, { request: "req-1" });
  assert.deepEqual(records, [
    {
      command: "fail",
      request: "req-1",
      ids: [job?.id],
      key: null,
      workers: null,
      message: "Marked as failed: 1 of 1 job",
      tally: { requested: 1, done: 1 },
      operationId: null,
      changes: { reason: "r" },
      before: null,
      after: null,
    },
  ]);
  const unlocked = await run("unlock", { worker_ids: ["w1", "w2"] });
  assert.deepEqual(unlocked.records[0]?.workers, ["w1", "w2"]);
});

test("A dry run leaves no record.", async () => {
  const dry = commands.filter(({ fields }) => "dry_run" in fields).map(({ name }) => name);
  assert.deepEqual(dry.toSorted(), ["migrate", "sweep"]);
  for (const name of dry) {
    const { records, done } = await run(name, { dry_run: true });
    assert.ok(!(done instanceof Error));
    assert.deepEqual(records, [], name);
  }
});

test("The record of a sweep has the workers whose jobs were recovered.", async () => {
  const [job] = await add(1);
  await lockJob(queue, job?.id ?? "", "nobody-1", "1 day");
  const { records } = await run("sweep", {});
  assert.deepEqual(records[0]?.workers, ["nobody-1"]);
});

test("The record of an audited command has the jobs before and after the change, and never their payloads.", async () => {
  const [job] = await add(1);
  const { records } = await run("retry", { ids: [job?.id], priority: 3 }, { isAudited: true });
  const [record] = records;
  assert.deepEqual(record?.changes, { priority: 3 });
  assert.deepEqual([record?.before?.[0]?.priority, record?.after?.[0]?.priority], [0, 3]);
  assert.equal(record?.before?.[0]?.maxAttempts, 25);
  assert.match(record?.before?.[0]?.runAt ?? "", /^\d{4}-.*Z$/);
  const secret = { identifier: "t", payload: '{"password":"hunter2"}', key: "k" };
  const added = await run("add", secret, { isAudited: true });
  assert.doesNotMatch(JSON.stringify(added.records), /hunter2/);
  assert.equal(added.records[0]?.after?.length, 1);
  assert.deepEqual(added.records[0]?.ids, [added.records[0]?.after?.[0]?.id]);
  const removed = await run("remove", { key: "k" }, { isAudited: true });
  assert.deepEqual([removed.records[0]?.before?.length, removed.records[0]?.after], [1, []]);
});

test("A rejected command leaves no record, changes nothing, and reports all problems.", async () => {
  const [job] = await add(1);
  const { records, done } = await run(
    "reschedule",
    { ids: [job?.id], prioriti: 1 },
    { problems: [{ path: "reason", message: "is not for reschedule" }] },
  );
  assert.ok(done instanceof Error);
  assert.match(done.message, /prioriti: unknown field, did you mean "priority"\?/);
  assert.match(done.message, /reason: is not for reschedule/);
  const lacking = await run("reschedule", { ids: [job?.id] });
  assert.match(
    String(lacking.done),
    /reschedule needs at least one of run_at, shift, spread, priority, attempts and max_attempts/,
  );
  assert.deepEqual([...records, ...lacking.records], []);
  const [row] = await queue.sql<{ revision: number }>("select * from worker._private_jobs");
  assert.equal(row?.revision, 0);
});

test("A command that needs a pool is rejected if the caller has no pool.", async () => {
  const { done } = await run("migrate", {}, { pool: null });
  assert.equal((done as { code?: string }).code, "configuration");
});

test("A command that fails after a commit has a partial result and a record, both with the failure.", async (t) => {
  t.after(() => queue.sql("drop function public.break_off() cascade"));
  const [job] = await add(1);
  await queue.sql("update worker._private_jobs set attempts = max_attempts");
  await queue.sql(`create function public.break_off() returns trigger language plpgsql as
    $$ begin perform pg_terminate_backend(pg_backend_pid()); return old; end $$`);
  await queue.sql(`create trigger break_off before delete on worker._private_tasks
    for each row execute function public.break_off()`);
  const errors: object[] = [];
  const logger = { ...silentLogger, error: (fields: object) => void errors.push(fields) };
  const { done, records } = await run("cleanup", {}, { logger });
  assert.ok(!(done instanceof Error));
  assert.equal(done.isPartial, true);
  assert.partialDeepStrictEqual(errors, [{ command: "cleanup", code: "database_unreachable" }]);
  assert.match(
    done.message,
    /^Deleted 1 failed job; not everything was done: cannot reach PostgreSQL/,
  );
  assert.equal(JSON.parse(done.json).deleted_jobs, 1);
  assert.deepEqual(
    records.map(({ message }) => message),
    [done.message],
  );
  assert.deepEqual(
    await queue.sql("select from worker._private_jobs where id = $1", [job?.id]),
    [],
  );
  const again = await run("cleanup", {});
  assert.ok(again.done instanceof Error, "the second cleanup deletes nothing and is rejected");
  assert.deepEqual(again.records, []);
});
