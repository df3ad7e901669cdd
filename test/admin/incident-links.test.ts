// Tests that the query of each incident finds as many jobs as the incident counts.
import assert from "node:assert/strict";
import { test } from "node:test";
import { type Json, migratedDatabase, startAdmin } from "./admin-harness.ts";

const { url } = await migratedDatabase("worker", ["controls", "limits"]);

type TestAdmin = Awaited<ReturnType<typeof startAdmin>>;

/**
 * Returns, for each incident that has a query, its kind and its number of jobs. Checks that the query finds this number
 * of jobs.
 */
async function counted(): Promise<string[]> {
  // A new admin for each call, because an admin caches its incidents.
  const { client } = await startAdmin({ url });
  const { incidents } = (await client.get("/api/incidents")).body;
  const counts: string[] = [];
  for (const { kind, q, affected } of incidents) {
    if (q === null) continue;
    const { jobs } = (await client.get(`/api/jobs?limit=200&q=${encodeURIComponent(q)}`)).body;
    assert.deepEqual([affected.value, affected.precision], [jobs.length, "exact"], `${kind}: ${q}`);
    counts.push(`${kind} ${jobs.length}`);
  }
  return counts.sort();
}

async function added({ client }: TestAdmin, count: number, job: object): Promise<void> {
  const answers = await Promise.all(
    Array.from({ length: count }, () => client.post("/api/jobs", job)),
  );
  for (const { status, text } of answers) assert.equal(status, 200, text);
}

test("The query of an incident finds as many jobs as the incident counts.", async () => {
  const admin = await startAdmin({ url });
  const post = async (path: string, body: Json) => {
    const { status, text } = await admin.client.post(path, body);
    assert.equal(status, 200, text);
  };
  const sql = (text: string, values: unknown[] = []) => admin.pool.query(text, values);
  for (const identifier of ["ready", "lost", "limited", "rested"]) {
    await added(admin, 2, { identifier });
    await added(admin, 1, { identifier, queue: "locked" });
    await added(admin, 1, { identifier, queue: "full" });
  }
  await sql("update worker._private_jobs set run_at = now() - interval '1 hour'");
  await sql(`update worker._private_job_queues set locked_by = 'w', locked_at = now() - interval '1 hour'
    where queue_name = 'locked'`);
  await post("/api/limits", { action: "set", name: "q", queue: "full", concurrency: 1 });
  await sql(`insert into worker._private_queue_slots (queue_id, slot, locked_by, locked_at)
    select id, 1, 'w', now() - interval '1 hour' from worker._private_job_queues where queue_name = 'full'`);
  await post("/api/pauses", { action: "pause", scope: "task", name: "rested" });
  // Without a live worker a full limit is no incident: the jobs wait for a worker.
  assert.deepEqual(await counted(), ["locked_queue 4", "no_worker 9", "paused 3"]);

  await added(admin, 1, { identifier: "limited" });
  const { rows } = await sql("select max(id)::text as id from worker._private_jobs");
  const { id } = rows[0];
  await sql("update worker._private_jobs set locked_by = 'w', locked_at = now() where id = $1", [
    id,
  ]);
  const report = {
    ...{ task_identifiers: ["ready", "limited", "rested"], threshold_ms: 60_000 },
    ...{ running_job_ids: [id], running_jobs: 1 },
  };
  await sql(
    "insert into worker._private_workers (id, last_heartbeat_at, metadata) values ('w', now(), $1)",
    [JSON.stringify(report)],
  );
  await post("/api/limits", { action: "set", name: "t", task: "limited", concurrency: 1 });
  const counts = ["limited 2", "limited 4", "old_ready 2", "paused 2", "unsupported_task 2"];
  assert.deepEqual(await counted(), counts);

  await post("/api/pauses", { action: "pause", scope: "all" });
  assert.ok((await counted()).includes("paused 8"));
});
