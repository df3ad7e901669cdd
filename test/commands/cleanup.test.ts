// Tests cleanup(), whose three tasks delete failed jobs, unused task identifiers and unused queues.
import assert from "node:assert/strict";
import { test } from "node:test";
import { permanentlyFailJobs } from "../../src/commands/jobs/permanently-fail-jobs.ts";
import { cleanup } from "../../src/commands/maintenance/cleanup.ts";
import { addJob } from "../../src/queue/add/add-job.ts";
import { addJobs } from "../../src/queue/add/add-jobs.ts";
import { heartbeat, lockJob, testQueue } from "../queue/queue-database.ts";

const queue = testQueue();

/** Adds a failed job, a running job without attempts left, and a waiting job, each with its own task and queue. */
async function addSorts(): Promise<void> {
  const [failed, running] = await addJobs(
    queue.db,
    ["failed", "running", "waiting"].map((name) => ({
      identifier: name,
      spec: { queueName: name, maxAttempts: 1 },
    })),
  );
  await permanentlyFailJobs(queue.db, [failed?.id ?? ""], null);
  await lockJob(queue, running?.id ?? "");
}

const names = async () => {
  const [row] = await queue.sql<{ tasks: string[]; queues: string[]; jobs: number }>(`
    select
      array(select identifier from worker._private_tasks order by 1) as tasks,
      array(select queue_name from worker._private_job_queues order by 1) as queues,
      (select count(*)::int from worker._private_jobs) as jobs`);
  return row;
};

test("By default all three cleanup tasks run; tasks and queues of deleted failed jobs are deleted, too.", async () => {
  await addSorts();
  assert.deepEqual(await cleanup(queue.db), {
    deletedJobs: 1,
    deletedTaskIdentifiers: 1,
    deletedQueues: 1,
  });
  const rest = ["running", "waiting"];
  assert.deepEqual(await names(), { tasks: rest, queues: rest, jobs: 2 });
});

test("Only the requested cleanup tasks run; an empty list runs none.", async () => {
  await addSorts();
  const none = { deletedJobs: null, deletedTaskIdentifiers: null, deletedQueues: null };
  assert.deepEqual(await cleanup(queue.db, []), none);
  assert.equal((await names())?.jobs, 3);
  assert.deepEqual(await cleanup(queue.db, ["gc-job-queues"]), { ...none, deletedQueues: 0 });
  assert.deepEqual(
    await cleanup(queue.db, ["gc-task-identifiers", "delete-permanently-failed-jobs"]),
    { ...none, deletedJobs: 1, deletedTaskIdentifiers: 1 },
  );
});

test("A failed job that a row of the application references is named in the error, and all other failed jobs are deleted.", async (t) => {
  t.after(() => queue.sql("drop table public.orders"));
  const jobs = await addJobs(
    queue.db,
    Array.from({ length: 20 }, () => ({ identifier: "failed" })),
  );
  const id = jobs[7]?.id ?? "";
  await permanentlyFailJobs(
    queue.db,
    jobs.map((job) => job.id),
    null,
  );
  await queue.sql(`create table public.orders (job bigint references worker._private_jobs (id))`);
  await queue.sql("insert into public.orders values ($1)", [id]);
  await queue.sql("insert into worker._private_tasks (identifier) values ('unused')");
  const message = new RegExp(`refuses to delete 1 failed job, .* job ${id}: .*"orders_job_fkey"`);
  await assert.rejects(cleanup(queue.db), { code: "database_error", message });
  assert.deepEqual(await queue.sql("select id from worker._private_jobs"), [{ id }]);
  assert.deepEqual((await names())?.tasks, ["failed"]);
});

for (const [table, column, task, kind] of [
  ["_private_tasks", "identifier", "gc-task-identifiers", "unused task identifier"],
  ["_private_job_queues", "queue_name", "gc-job-queues", "unused queue"],
] as const) {
  test(`A row of ${table} that the application references is named in the error, and all other unused rows are deleted.`, async (t) => {
    t.after(() => queue.sql("drop table public.settings"));
    const rows = await queue.sql<{ id: number }>(
      `insert into worker.${table} (${column}) select 'n' || n from generate_series(1, 20) n returning id`,
    );
    const id = rows[7]?.id ?? 0;
    await queue.sql(`create table public.settings (id int references worker.${table} (id))`);
    await queue.sql("insert into public.settings values ($1)", [id]);
    const message = new RegExp(
      `refuses to delete 1 ${kind}, .* with id ${id}: .*"settings_id_fkey"`,
    );
    await assert.rejects(cleanup(queue.db, [task]), { code: "database_error", message });
    assert.deepEqual(await queue.sql(`select id from worker.${table}`), [{ id }]);
  });
}

test("If a trigger keeps all 10,000 unused tasks of the first step and one of a later step, a cleanup deletes all other unused tasks.", async (t) => {
  t.after(() => queue.sql("drop function public.keep cascade"));
  await queue.sql(`insert into worker._private_tasks (identifier)
    select case when n <= 10000 or n = 15000 then 'kept' else 'unused' end || n from generate_series(1, 20003) n`);
  await queue.sql(`create function public.keep() returns trigger language plpgsql as
      'begin return case when old.identifier like ''kept%'' then null else old end; end';
    create trigger keep before delete on worker._private_tasks
      for each row execute function public.keep()`);
  const { deletedTaskIdentifiers } = await cleanup(queue.db, ["gc-task-identifiers"]);
  assert.equal(deletedTaskIdentifiers, 10_002);
  assert.ok((await names())?.tasks.every((name) => name.startsWith("kept")));
});

test("The error of a cleanup names the rows of each kind that PostgreSQL refuses to delete.", async (t) => {
  t.after(() => queue.sql("drop table public.orders, public.settings"));
  const { id } = await addJob(queue.db, { identifier: "failed" });
  await permanentlyFailJobs(queue.db, [id], null);
  await queue.sql("insert into worker._private_tasks (identifier) values ('unused')");
  await queue.sql(`create table public.orders (job bigint references worker._private_jobs (id));
    create table public.settings (task int references worker._private_tasks (id))`);
  await queue.sql("insert into public.orders values ($1)", [id]);
  await queue.sql(
    "insert into public.settings select id from worker._private_tasks where identifier = 'unused'",
  );
  const message =
    /1 failed job, .*"orders_job_fkey".*; .* 1 unused task identifier, .*"settings_task_fkey"/;
  await assert.rejects(cleanup(queue.db), { code: "database_error", message });
});

test("A locked queue stays although it has no job.", async () => {
  await addSorts();
  await queue.sql("delete from worker._private_jobs");
  await queue.sql(
    "update worker._private_job_queues set locked_at = now() where queue_name = 'failed'",
  );
  assert.equal((await cleanup(queue.db, ["gc-job-queues"])).deletedQueues, 2);
});

test("Many failed jobs are deleted in steps, except jobs whose rows other sessions have locked.", async () => {
  const identifier = "t";
  await addJobs(
    queue.db,
    Array.from({ length: 10_000 }, () => ({ identifier })),
  );
  await addJobs(
    queue.db,
    Array.from({ length: 10_000 }, () => ({ identifier })),
  );
  await addJobs(
    queue.db,
    Array.from({ length: 2_345 }, () => ({ identifier })),
  );
  await queue.sql("update worker._private_jobs set attempts = max_attempts + (id % 2)::int");
  await addJob(queue.db, { identifier });
  const client = await queue.pool.connect();
  await client.query("begin");
  await client.query("select from worker._private_jobs where id = 777 for update");
  const { deletedJobs } = await cleanup(queue.db, ["delete-permanently-failed-jobs"]);
  await client.query("rollback");
  client.release();
  assert.equal(deletedJobs, 22_344);
  assert.equal((await names())?.jobs, 2);
});

test("An unknown cleanup task is rejected before anything is deleted.", async () => {
  await addSorts();
  await assert.rejects(
    cleanup(queue.db, ["delete-permanently-failed-jobs", "gc-jobs-queues" as never]),
    {
      code: "bad_input",
      message: /^tasks\[1\]: unknown cleanup task, did you mean "gc-job-queues"/,
    },
  );
  await assert.rejects(cleanup(queue.db, "gc-job-queues" as never), { code: "bad_input" });
  assert.equal((await names())?.jobs, 3);
});

test("Task identifiers in a worker's heartbeat, or named by the caller, are kept.", async () => {
  await queue.sql(
    "insert into worker._private_tasks (identifier) values ('idle'), ('of a caller'), ('unused')",
  );
  await heartbeat(queue, "w", { task_identifiers: ["idle", "elsewhere"] });
  await heartbeat(queue, "rust", { hostname: "elsewhere" });
  const gc = (options = {}) => cleanup(queue.db, ["gc-task-identifiers"], options);
  const { deletedTaskIdentifiers } = await gc({ taskIdentifiersToKeep: ["of a caller"] });
  assert.equal(deletedTaskIdentifiers, 1);
  assert.deepEqual((await names())?.tasks, ["idle", "of a caller"]);
  await gc();
  assert.deepEqual((await names())?.tasks, ["idle"]);
  for (const wrong of ["idle", [1], ["a\0"]]) {
    await assert.rejects(gc({ taskIdentifiersToKeep: wrong }), { code: "bad_input" });
  }
});
