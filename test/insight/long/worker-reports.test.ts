// Tests that a read of the reports of many workers limits the total size of the reports, whatever the rows contain.
import assert from "node:assert/strict";
import { test } from "node:test";
import { cleanup } from "../../../src/commands/maintenance/cleanup.ts";
import { reportedWorkers } from "../../../src/insight/expressions/reported-workers.ts";
import { listWorkers } from "../../../src/insight/lists/list-workers.ts";
import { liveTasks } from "../../../src/insight/lists/worker-reports.ts";
import { listLightJobs } from "../../../src/insight/pages/list-jobs.ts";
import { listActiveWorkers } from "../../../src/insight/read/list-active-workers.ts";
import { addJob } from "../../../src/queue/add/add-job.ts";
import { lockJob, testQueue } from "../../queue/queue-database.ts";

const queue = testQueue();
const MB = 1_048_576;

/** Inserts `count` workers, each with a report of at least `bytes` bytes. `members`: other members of each report. */
const insertWorkers = (name: string, count: number, bytes: number, members: object = {}) =>
  queue.sql(
    `insert into worker._private_workers (id, last_heartbeat_at, metadata)
     select $1::text || n, now(), $4::jsonb || jsonb_build_object('pad', repeat('a', $3::int))
     from generate_series(1, $2::int) as n`,
    [name, count, bytes, JSON.stringify(members)],
  );

const readReports = () =>
  queue.sql<{ id: string; bytes: number | null; is_cut: boolean }>(
    `select id, octet_length(metadata::text) as bytes, is_cut from ${reportedWorkers("worker")} as workers order by id`,
  );

test("A repetitive report is not compressed in the table.", async () => {
  await insertWorkers("w", 1, 200_000);
  const [row] = await queue.sql<{ size: number; compression: string | null }>(
    "select pg_column_size(metadata) as size, pg_column_compression(metadata) as compression from worker._private_workers",
  );
  assert.equal(row?.compression, null);
  assert.ok((row?.size ?? 0) > 200_000, `${row?.size} bytes`);
});

test("Of many reports, the shortest are read, at most 16 MB in total; the rows of all other reports are marked.", async () => {
  await insertWorkers("long", 100, 250_000);
  await insertWorkers("short", 20, 100);
  const rows = await readReports();
  const read = rows.filter(({ bytes }) => bytes !== null);
  const bytes = read.reduce((sum, row) => sum + (row.bytes ?? 0), 0);
  assert.ok(bytes > 15 * MB && bytes <= 16 * MB, `${bytes} bytes`);
  assert.equal(read.filter(({ id }) => id.startsWith("short")).length, 20);
  assert.ok(rows.every((row) => row.is_cut === (row.bytes === null)));
  assert.equal(rows.length, 120);
});

test("A compressed report counts with the largest size that the report can have after decompression.", async () => {
  await queue.sql("alter table worker._private_workers alter column metadata set storage extended");
  await insertWorkers("packed", 1_500, 250_000);
  await queue.sql("alter table worker._private_workers alter column metadata set storage external");
  const read = (await readReports()).filter(({ bytes }) => bytes !== null);
  assert.ok(read.length > 40 && read.length < 80, `${read.length} reports were read`);
});

test("A row whose id is too long is left out, and a report that is not an object is ignored.", async () => {
  await insertWorkers(`w${"x".repeat(200_000)}`, 3, 10);
  await queue.sql(
    "insert into worker._private_workers (id, last_heartbeat_at, metadata) values ('list', now(), '[1]')",
  );
  assert.deepEqual(await readReports(), [{ id: "list", bytes: null, is_cut: false }]);
});

test("A list of workers has only a few megabytes of reports, and marks the workers whose reports it omits.", async () => {
  await insertWorkers("w", 1_500, 250_000, { running_jobs: 1 });
  await insertWorkers("own", 1, 10, { host: "h", running_jobs: 2 });
  const active = await listActiveWorkers(queue.db);
  assert.equal(active.length, 1_000);
  const bytes = active.reduce((sum, { metadataText }) => sum + (metadataText?.length ?? 0), 0);
  assert.ok(bytes > MB && bytes <= 2 * MB, `${bytes} bytes`);
  assert.ok(active.every((one) => one.isMetadataOmitted === (one.metadataText === null)));
  assert.equal(active.find(({ workerId }) => workerId === "own1")?.running, 2);
  const page = { sort: "id", search: "", limit: 500, cursor: null } as const;
  const { workers, counts } = await listWorkers(queue.db, page);
  assert.equal(counts.alive, 1_501);
  assert.equal(workers.length, 500);
  assert.equal(workers[0]?.report.host, "h");
  const read = workers.filter(({ report }) => !report.isLeftOut);
  assert.ok(
    read.length > 10 && read.length < 20,
    `the list has the reports of ${read.length} workers`,
  );
});

test("Even with reports that are too long in total, fetched jobs are distinguished from running ones.", async () => {
  await insertWorkers("long", 100, 250_000, { fetched_job_ids: ["1", "2"] });
  const ids: string[] = [];
  for (let n = 0; n < 3; n++) {
    const { id } = await addJob(queue.db, { identifier: "t", spec: {} });
    await lockJob(queue, id, "own1", "3 seconds");
    ids.push(id);
  }
  await insertWorkers("own", 1, 10, { fetched_job_ids: ids.slice(1) });
  const { jobs } = await listLightJobs(queue.db);
  assert.deepEqual(
    jobs.map(({ condition }) => condition),
    ["running", "fetched", "fetched"],
  );
});

test("While the reports of workers are too long in total to be read, a cleanup deletes no task identifier.", async () => {
  await queue.sql("insert into worker._private_tasks (identifier) values ('unused')");
  await insertWorkers("long", 100, 250_000, { task_identifiers: ["t"] });
  const { areAll, living } = await liveTasks(queue.db);
  assert.deepEqual([areAll, living], [false, 100]);
  const tasks = async () =>
    (await queue.sql("select identifier from worker._private_tasks")).length;
  await cleanup(queue.db, ["gc-task-identifiers"]);
  assert.equal(await tasks(), 1);
  await queue.sql("delete from worker._private_workers where id not like '%1'");
  await cleanup(queue.db, ["gc-task-identifiers"]);
  assert.equal(await tasks(), 0);
});
