// Tests pauses in the HTTP API: the routes that pause and resume, the incidents and metrics of pauses, and the paused
// queues, tasks and jobs in lists.
import assert from "node:assert/strict";
import { test } from "node:test";
import { schemaName } from "../../src/database/schema-name.ts";
import { addJob } from "../../src/queue/add/add-job.ts";
import { waitUntil } from "../support/until.ts";
import { type Json, migratedDatabase, startAdmin } from "./admin-harness.ts";

const { url } = await migratedDatabase("worker", ["controls"]);
const { client, pool } = await startAdmin({ url });
const db = { client: pool, schema: schemaName() };

test("If a pause keeps no job waiting, the sentence of its incident begins with: No job is due.", async () => {
  const idle = { scope: "task", name: "idle" };
  assert.equal((await client.post("/api/pauses", { action: "pause", ...idle })).status, 200);
  let one: Json;
  await waitUntil("the incident of the pause exists", async () => {
    const { incidents } = (await client.get("/api/incidents")).body;
    one = incidents.find(({ id }: { id: string }) => id === "paused:task:idle");
    return one !== undefined;
  });
  assert.match(one.sentence, /^No job is due\. Paused/);
  assert.equal((await client.post("/api/pauses", { action: "resume", ...idle })).status, 200);
});

test("A paused queue is listed with its pause and without a lock; the incident of the pause counts waiting jobs.", async () => {
  await addJob(db, { identifier: "t", spec: { queueName: "mail" } });
  const pause = {
    action: "pause",
    scope: "queue",
    name: "mail",
    reason: "deploy",
    for_secs: 3_600,
  };
  assert.equal((await client.post("/api/pauses", pause)).status, 200);
  const { queues, states } = (await client.get("/api/queues")).body;
  const [listed] = queues;
  assert.deepEqual(
    [states.running, states.ready],
    [1, 0],
    "the paused queue is counted as locked, not as ready",
  );
  for (const [only, count] of Object.entries({ running: 1, ready: 0 })) {
    const { body } = await client.get(`/api/queues?only=${only}`);
    assert.equal(body.queues.length, count, only);
  }
  assert.deepEqual([listed.locked_at, listed.locked_by, listed.holder], [null, null, null]);
  assert.equal(listed.paused.reason, "deploy");
  assert.equal(Date.parse(listed.paused.until) - Date.parse(listed.paused.at), 3_600_000);
  assert.equal((await client.get("/api/queue?name=mail")).body.queue.paused.reason, "deploy");
  const { pauses, missing } = (await client.get("/api/pauses")).body;
  assert.equal(missing, null);
  assert.deepEqual(
    pauses.map((one: Json) => [one.scope, one.name]),
    [["queue", "mail"]],
  );
  let incident: Json;
  await waitUntil("the incident of the pause exists", async () => {
    const { incidents } = (await client.get("/api/incidents")).body;
    incident = incidents.find((one: Json) => one.id === "paused:queue:mail");
    return incident !== undefined;
  });
  assert.match(incident.title, /mail is paused/);
  assert.equal(incident.affected.value, 1);
  assert.match(incident.sentence, /^1 job waits\. Paused .*until .*: deploy\.$/);
  const resume = { action: "resume", scope: "queue", name: "mail" };
  const post = { path: "/api/pauses", body: resume };
  assert.deepEqual(incident.fix, { action: "resume", label: "Resume…", post });
  const [job] = (await client.get("/api/jobs")).body.jobs;
  const [cause] = (await client.get(`/api/jobs/${job.id}/why`)).body.causes;
  assert.deepEqual([cause.kind, cause.fix.post], ["paused", post]);
  const { workers } = (await client.get("/api/workers")).body;
  assert.deepEqual(workers, []);
  const resumed = await client.post(post.path, post.body);
  assert.equal(resumed.body.was_paused, true);
  assert.equal((await client.get("/api/queues")).body.queues[0].paused, null);
});

test("A job that started before the pause of its queue is shown as running; after a resume, its worker is shown as the holder of the queue's lock.", async () => {
  const { id } = await addJob(db, { identifier: "t", spec: { queueName: "busy" } });
  const inQueue =
    "job_queue_id = (select id from worker._private_job_queues where queue_name = 'busy')";
  await pool.query(`
    update worker._private_job_queues set locked_by = 'w', locked_at = now() where queue_name = 'busy';
    update worker._private_jobs set locked_by = 'w', locked_at = now() where ${inQueue}`);
  const pause = { action: "pause", scope: "queue", name: "busy" };
  assert.equal((await client.post("/api/pauses", pause)).status, 200);
  const { queue, running, next } = (await client.get("/api/queue?name=busy")).body;
  assert.deepEqual([queue.locked_by, running?.id, next], [null, Number(id), []]);
  assert.equal((await client.post("/api/pauses", { ...pause, action: "resume" })).status, 200);
  const resumed = (await client.get("/api/queue?name=busy")).body;
  const { paused, locked_by: holder, locked_at: since } = resumed.queue;
  assert.deepEqual([paused, holder, resumed.running?.id], [null, "w", Number(id)]);
  assert.ok(Date.now() - Date.parse(since) < 60_000);
  const { queues } = (await client.get("/api/queues?search=busy")).body;
  assert.deepEqual([queues[0]?.paused, queues[0]?.locked_by], [null, "w"]);
  await pool.query(`delete from worker._private_jobs where ${inQueue}`);
  assert.equal((await client.get("/api/queue?name=busy")).body.running, null);
  await client.post("/api/pauses", { ...pause, action: "resume" });
});

test("A paused task is listed with its pause; the incident of a pause of all jobs offers to resume them.", async () => {
  await client.post("/api/pauses", { action: "pause", scope: "task", name: "t", reason: "deploy" });
  await client.post("/api/pauses", { action: "pause", scope: "all" });
  const { id } = await addJob(db, { identifier: "t" });
  await pool.query(`update worker._private_job_queues
    set locked_at = now(), locked_by = 'elsewhere' where queue_name = 'mail'`);
  const [task] = (await client.get("/api/tasks")).body.tasks;
  assert.deepEqual([task.paused.reason, task.paused.until], ["deploy", null]);
  let all: Json;
  await waitUntil("the incident of the pause exists", async () => {
    const { incidents } = (await client.get("/api/incidents")).body;
    all = incidents.find((one: Json) => one.id === "paused:all:");
    return all !== undefined;
  });
  const { incidents } = (await client.get("/api/incidents")).body;
  const paused = incidents.filter((one: Json) => one.kind === "paused");
  assert.equal(paused.length, 2);
  for (const { affected, q } of paused) {
    const { jobs } = (await client.get(`/api/jobs?q=${encodeURIComponent(q)}`)).body;
    assert.equal(jobs.length, affected.value, `${q} finds as many jobs as the incident counts`);
  }
  await pool.query("delete from worker._private_jobs where id = $1", [id]);
  assert.deepEqual(all.fix.post.body, { action: "resume", scope: "all" });
  assert.equal((await client.post(all.fix.post.path, all.fix.post.body)).body.was_paused, true);
});

test("Metrics, queue details and job rows show pauses. Metrics, queue details and the list of pauses also show how many workers have not acknowledged the pauses.", async () => {
  await pool.query(`insert into worker._private_workers (id, last_heartbeat_at, metadata)
    values ('older', now(), '{"threshold_ms": 600000}')`);
  const pause = { action: "pause", wait: false };
  const task = await client.post("/api/pauses", { ...pause, scope: "task", name: "t" });
  assert.deepEqual(
    [task.body.acknowledged, task.body.waiting, task.body.waiting_for],
    [0, 1, ["older"]],
  );
  await client.post("/api/pauses", { ...pause, scope: "queue", name: "mail" });
  const missing = { acknowledged: 0, waiting: 1, waiting_for: ["older"] };
  assert.deepEqual((await client.get("/api/queue?name=mail")).body.acknowledgement, missing);
  const { pauses: _, missing: __, note: ___, ...listed } = (await client.get("/api/pauses")).body;
  assert.deepEqual(listed, missing);
  const other = await addJob(db, { identifier: "other" });
  await addJob(db, { identifier: "t" });
  const { jobs } = (await client.get("/api/jobs?fields=row")).body;
  const paused = jobs.filter((one: Json) => one.is_paused);
  assert.deepEqual(
    paused.map((one: Json) => one.condition),
    ["blocked", "ready"],
  );
  assert.equal(jobs.find((one: Json) => String(one.id) === other.id).is_paused, false);
  const { text: metrics } = await client.get("/metrics");
  assert.match(metrics, /^worker_paused\{scope="task"\} 1$/m);
  assert.match(metrics, /^worker_paused\{scope="all"\} 0$/m);
  assert.match(metrics, /^worker_paused_unacknowledged 1$/m);
  await client.post("/api/pauses", { action: "resume", scope: "task", name: "t" });
  await client.post("/api/pauses", { action: "resume", scope: "queue", name: "mail" });
  assert.equal((await client.get("/api/queue?name=mail")).body.acknowledgement, null);
});

test("If the schema has no tables for pauses, the list of pauses names the missing extension and the command that adds it.", async () => {
  const bare = await migratedDatabase("worker");
  const admin = await startAdmin({ url: bare.url });
  const read = async (client: typeof admin.client) => (await client.get("/api/pauses")).body;
  const command = "worker migrate --with controls";
  const sentence = `a pause needs tables that the schema worker does not have: "${command}" adds them`;
  const missing = { extension: "controls", may_add: true, command, sentence };
  const bareList = await read(admin.client);
  assert.deepEqual([bareList.pauses, bareList.missing], [[], missing]);
  const role = `pausing_${process.pid}`;
  await admin.pool.query(`create role ${role} login bypassrls in role pg_read_all_data`);
  const own = new URL(bare.url);
  own.searchParams.set("user", role);
  const lesser = await startAdmin({ url: own.href });
  const of = (await read(lesser.client)).missing;
  assert.deepEqual([of.may_add, of.command], [false, command]);
  assert.match(of.sentence, /adds them when \w+, the owner of the schema, runs it$/);
});

test("While a worker without heartbeats holds a lock, the answer to a pause of a task and the list of pauses have a note about such workers.", async () => {
  await addJob(db, { identifier: "held" });
  await pool.query(
    "update worker._private_jobs set locked_by = 'theirs', locked_at = now() where locked_at is null",
  );
  const task = { scope: "task", name: "held" };
  const { note } = (await client.post("/api/pauses", { action: "pause", ...task })).body;
  assert.match(
    note,
    /^1 worker sends no heartbeats and may be a Graphile worker: Graphile workers apply the pause of a queue, not/,
  );
  assert.equal((await client.get("/api/pauses")).body.note, note);
});
