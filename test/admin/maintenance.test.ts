import assert from "node:assert/strict";
import { test } from "node:test";
import type { AuditEntry } from "../../src/commands/audit/audit-entry.ts";
import { migratedDatabase, startAdmin } from "./admin-harness.ts";

const audited: AuditEntry[] = [];
const { client, pool } = await startAdmin({
  onAudit: (entry) => void audited.push(entry),
});
const maintain = async (fields: object) => {
  const { status, body, text } = await client.post("/api/maintenance", fields);
  assert.equal(status, 200, text);
  return body;
};
const addLocked = async (worker: string, age: string) => {
  const { body } = await client.post("/api/jobs", { identifier: "locked", queue: `q-${worker}` });
  await pool.query(
    `update worker._private_jobs set locked_by = $1, locked_at = now() - $2::interval, attempts = 1
     where id = $3`,
    [worker, age, body.jobs[0].id],
  );
  return body.jobs[0].id as number;
};

test("A cleanup without a list of cleanup tasks runs all three; with an empty list it runs none.", async () => {
  const add = await client.post("/api/jobs", { identifier: "spent", queue: "spent" });
  await client.post("/api/jobs/action", { action: "fail", ids: [add.body.jobs[0].id] });
  assert.deepEqual(await maintain({ action: "cleanup", cleanup_tasks: [] }), {
    message: "No cleanup task was given, so nothing was done",
    deleted_jobs: null,
    deleted_task_identifiers: null,
    deleted_queues: null,
  });
  assert.deepEqual(
    await maintain({ action: "cleanup", cleanup_tasks: ["delete-permanently-failed-jobs"] }),
    {
      message: "Deleted 1 failed job",
      deleted_jobs: 1,
      deleted_task_identifiers: null,
      deleted_queues: null,
    },
  );
  assert.equal(
    (await maintain({ action: "cleanup" })).message,
    "Deleted 0 failed jobs, 1 task identifier, 1 queue",
  );
});

test("Force-unlock unlocks the jobs and queues of the named workers only.", async () => {
  const [mine, other] = [
    await addLocked("stopped", "1 minute"),
    await addLocked("alive", "1 minute"),
  ];
  assert.deepEqual(await maintain({ action: "force-unlock", worker_ids: ["stopped", "absent"] }), {
    message: 'Unlocked 1 job and 0 queues of 1 of 2 workers; there is no worker "absent"',
    unlocked_jobs: 1,
    unlocked_queues: 0,
    requested: 2,
    done: 1,
  });
  const state = async (id: number) => (await client.get(`/api/jobs/${id}`)).body.state;
  assert.deepEqual([await state(mine), await state(other)], ["ready", "locked"]);
});

test("A dry run of a sweep reports what the sweep then does.", async () => {
  const id = await addLocked("stale", "2 hours");
  await pool.query("select worker.worker_heartbeat('stale')");
  await pool.query(
    "update worker._private_workers set last_heartbeat_at = now() - interval '1 hour'",
  );
  const sweep = { action: "sweep-stale-workers", sweep_threshold_secs: 600 };
  audited.length = 0;
  const dry = await maintain({ ...sweep, dry_run: true });
  assert.deepEqual([dry.dry_run, dry.stale_workers, dry.recovered_jobs], [true, ["stale"], 0]);
  assert.equal(dry.message, "Would recover 1 job of 1 worker");
  assert.equal(dry.recoverable_jobs, 1);
  assert.equal((await client.get(`/api/jobs/${id}`)).body.state, "locked");
  assert.equal(audited.length, 0, "a preview is not recorded as a change");
  const swept = await maintain({ ...sweep, recovery_delay_secs: 0 });
  assert.equal(swept.message, "Swept 1 worker; 1 job recovered");
  assert.deepEqual(
    audited.map(({ message }) => message),
    [swept.message],
  );
  assert.equal((await client.get(`/api/jobs/${id}`)).body.state, "ready");
});

test("A sweep reports the workers that it skips because their own threshold is longer.", async () => {
  await pool.query("delete from worker._private_workers");
  await addLocked("patient", "20 minutes");
  await pool.query(`select worker.worker_heartbeat('patient', '{"threshold_ms": 3600000}')`);
  await pool.query(
    "update worker._private_workers set last_heartbeat_at = now() - interval '20 minutes'",
  );
  const sweep = { action: "sweep-stale-workers", sweep_threshold_secs: 600 };
  const dry = await maintain({ ...sweep, dry_run: true });
  assert.equal(
    dry.message,
    "Would recover 0 jobs of 0 workers; 1 skipped because of a longer threshold",
  );
  assert.deepEqual(dry.spared_workers, ["patient"]);
});

test("Migrate creates a missing schema and reports what it has done.", async () => {
  const { url } = await migratedDatabase();
  const empty = await startAdmin({ url, schema: "second" });
  const before = await empty.client.get("/api/overview");
  assert.deepEqual([before.status, before.body.code], [503, "schema_missing"]);
  assert.match(before.body.error, /schema "second".*migrate/);
  assert.equal((await empty.client.get("/readyz")).status, 503);
  const built = await empty.client.post("/api/maintenance", { action: "migrate" });
  assert.equal(built.status, 200, built.text);
  assert.match(built.body.message, /^Created the schema second \(level \d+\)$/);
  assert.equal((await empty.client.get("/api/overview")).status, 200);
  const again = await empty.client.post("/api/maintenance", { action: "migrate" });
  assert.match(again.body.message, /^The schema second is up to date/);
});

test("While another session has locked a table, a migration answers 503 with a message within seconds.", async () => {
  const blocker = await pool.connect();
  await blocker.query("begin; lock table worker.migrations in access exclusive mode");
  const began = performance.now();
  const { status, body, headers } = await client.post("/api/maintenance", { action: "migrate" });
  assert.ok(performance.now() - began < 15_000);
  await blocker.query("rollback");
  blocker.release();
  assert.deepEqual([status, body.code], [503, "database_busy"]);
  assert.match(body.error, /another session has held a lock on tables of the schema "worker"/);
  assert.match(headers["retry-after"] ?? "", /^\d+$/);
});

test("If PostgreSQL refuses some deletions, a cleanup reports what it has deleted, and is audited.", async (t) => {
  await pool.query("delete from worker._private_jobs");
  const add = await client.post("/api/jobs", { identifier: "billed" });
  const id = add.body.jobs[0].id as number;
  await client.post("/api/jobs", { identifier: "spare" });
  await pool.query("update worker._private_jobs set attempts = max_attempts");
  t.after(() => pool.query("drop table public.invoices"));
  await pool.query(
    "create table public.invoices (job bigint references worker._private_jobs (id))",
  );
  await pool.query("insert into public.invoices values ($1)", [id]);
  const refused = `PostgreSQL refuses to delete 1 failed job, and all others are deleted; job ${id}:`;
  audited.length = 0;
  const cleanup = { action: "cleanup", cleanup_tasks: ["delete-permanently-failed-jobs"] };
  for (const deleted of ["1 failed job", "0 failed jobs"]) {
    const { message } = await maintain(cleanup);
    const expected = `Deleted ${deleted}; not everything was done: ${refused}`;
    assert.equal(message.slice(0, expected.length), expected);
    assert.match(message, /"invoices_job_fkey"/);
    assert.equal(audited.pop()?.message, message);
  }
});
