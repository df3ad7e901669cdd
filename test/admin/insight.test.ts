// Causes on the wire.
import assert from "node:assert/strict";
import { test } from "node:test";
import { connect } from "../http/raw-client.ts";
import { type Json, startAdmin } from "./admin-harness.ts";

const { client, pool } = await startAdmin();

test("Why: references are whole, ids are exact, and the verb is a request that is accepted.", async () => {
  const large = "9007199254740993";
  await pool.query(`insert into worker._private_tasks (identifier) values ('t');
    insert into worker._private_job_queues (queue_name, locked_by, locked_at)
      values ('q', 'stock', now() - interval '5 hours');
    insert into worker._private_jobs (id, task_id, job_queue_id, locked_by, locked_at, attempts)
      overriding system value values (${large}, 1, 1, 'stock', now() - interval '5 hours', 1);
    insert into worker._private_jobs (task_id, job_queue_id) values (1, 1)`);
  const { rows } = await pool.query("select id from worker._private_jobs order by id limit 1");
  const path = `/api/jobs/${rows[0].id}/why`;
  const { status, text, body } = await client.get(path);
  assert.equal(status, 200, text);
  assert.equal(body.condition, "blocked");
  assert.ok(text.includes(`"links":{"queue":"q","worker":null,"job":${large}}`), text);
  const { post } = body.causes.at(-1).verb;
  assert.equal((await client.post(post.path, post.body)).status, 200);
  assert.equal((await client.get(path)).body.condition, "ready");
});

test("Why: a job that is not there, and an id that is none.", async () => {
  assert.equal((await client.get("/api/jobs/4711/why")).status, 404);
  assert.equal((await client.get("/api/jobs/x/why")).status, 400);
});

test("Incidents: what stands still is told with a request that mends it.", async () => {
  const { client, pool } = await startAdmin();
  assert.equal((await client.get("/api/incidents")).body.verdict, "All is well");
  await pool.query(`insert into worker._private_tasks (identifier) values ('t');
    insert into worker._private_job_queues (queue_name, locked_by, locked_at)
      values ('q', 'w', now() - interval '5 hours');
    insert into worker._private_jobs (task_id, job_queue_id) values (1, 1);
    insert into worker._private_workers (id, last_heartbeat_at) values ('w', now() - interval '1 hour')`);
  // The reading before rests for a moment.
  let body = (await client.get("/api/incidents")).body;
  while (body.level === "ok") body = (await client.get("/api/incidents")).body;
  const [one] = body.incidents;
  assert.deepEqual(
    [body.level, one.kind, one.blast.value, body.more],
    ["bad", "stuck_queue", 1, 0],
  );
  assert.deepEqual(one.links, { queue: "q", worker: "w", job: null });
  const { path, body: sent } = one.verb.post;
  assert.equal((await client.post(path, sent)).status, 200);
  const found = await client.get(`/api/jobs?q=${encodeURIComponent(one.q)}`);
  assert.deepEqual([found.status, found.body.jobs], [200, []]);
});

test("Horizon and groups: numbers add up, and bad parameters are named.", async () => {
  const { client } = await startAdmin();
  await client.post("/api/jobs", { identifier: "t" });
  const { id } = (await client.post("/api/jobs", { identifier: "t", max_attempts: 1 })).body
    .jobs[0];
  await client.post("/api/jobs/action", { action: "fail", ids: [id], reason: "it 1 broke" });
  const { body: horizon } = await client.get("/api/horizon?buckets=20&task=t");
  const sum = (counts: number[]) => counts.reduce((all, one) => all + one, 0);
  assert.deepEqual([sum(horizon.series.ready), sum(horizon.series.failed)], [1, 1]);
  assert.deepEqual([horizon.edges.length, horizon.exact.length], [21, 20]);
  const { body } = await client.get("/api/groups?by=error&q=task:t");
  assert.deepEqual(
    body.groups.map((one: Json) => [one.label, one.count.value, one.sample_ids, one.tasks]),
    [["it # broke", 1, [id], ["t"]]],
  );
  assert.equal((await client.get("/api/groups?by=task")).body.groups[0].count.value, 2);
  assert.deepEqual((await client.get("/api/groups/common?q=is:failed")).body.compared, {
    here: 1,
    there: 1,
  });
  for (const [path, field] of [
    ["/api/horizon?buckets=9", "buckets"],
    ["/api/horizon?buckets=1e1", "buckets"],
    ["/api/groups?by=colour", "by"],
    ["/api/groups?limit=101", "limit"],
    ["/api/groups?q=tusk:t", "q"],
    ["/api/groups/common?against=all", "against"],
  ] as const) {
    const answer = await client.get(path);
    assert.deepEqual([answer.status, answer.body.problems?.[0]?.field], [400, field], path);
  }
});

test("Who watches is told of incidents and the horizon.", async () => {
  const { port } = await startAdmin();
  const viewer = await connect(port);
  viewer.socket.write(
    "GET /api/events?events=incidents,horizon HTTP/1.1\r\nHost: localhost\r\n\r\n",
  );
  const text = await viewer.received(/event: horizon\ndata: .*\n\n/);
  assert.match(text, /event: horizon\ndata: \{.*"edges":\[-172800,/);
  assert.match(
    await viewer.received(/event: incidents\ndata: .*\n\n/),
    /event: incidents\ndata: \{"verdict":"All is well","level":"ok","incidents":\[\]/,
  );
  viewer.socket.destroy();
});
