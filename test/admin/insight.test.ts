// Tests the routes of the HTTP API for the causes of a job's state (why), incidents, the horizon and groups of jobs.
import assert from "node:assert/strict";
import { test } from "node:test";
import { connect } from "../http/raw-client.ts";
import { type Json, migratedDatabase, startAdmin } from "./admin-harness.ts";
import { openapiDocument } from "./openapi-document.ts";

const { client, pool } = await startAdmin();

test("Why: the links are complete, job ids are exact, and the fix has a request that the server accepts.", async () => {
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
  const { post } = body.causes.at(-1).fix;
  assert.equal((await client.post(post.path, post.body)).status, 200);
  assert.equal((await client.get(path)).body.condition, "ready");
});

test("Why: the error group of a job is the group in which its error is listed.", async () => {
  const { client } = await startAdmin();
  const [job] = (await client.post("/api/jobs", { identifier: "t", max_attempts: 1 })).body.jobs;
  assert.equal((await client.get(`/api/jobs/${job.id}/why`)).body.error_group, null);
  await client.post("/api/jobs/action", { action: "fail", ids: [job.id], reason: "it 7 broke" });
  const { error_group: group } = (await client.get(`/api/jobs/${job.id}/why`)).body;
  assert.equal((await client.get("/api/groups?by=error")).body.groups[0].key, group);
});

test("Why: the status is 404 for a missing job and 400 for an invalid id.", async () => {
  assert.equal((await client.get("/api/jobs/4711/why")).status, 404);
  assert.equal((await client.get("/api/jobs/x/why")).status, 400);
});

test("Incidents: a stuck queue is reported with a request that fixes it.", async () => {
  const { url } = await migratedDatabase();
  const { client, pool } = await startAdmin({ url });
  assert.equal((await client.get("/api/incidents")).body.verdict, "No worker sends heartbeats");
  await pool.query(`insert into worker._private_tasks (identifier) values ('t');
    insert into worker._private_job_queues (queue_name, locked_by, locked_at)
      values ('q', 'w', now() - interval '5 hours');
    insert into worker._private_jobs (task_id, job_queue_id) values (1, 1);
    insert into worker._private_workers (id, last_heartbeat_at) values ('w', now() - interval '1 hour')`);
  // The first admin would still answer from its cache. A new admin has nothing cached.
  const another = await startAdmin({ url });
  const { body } = await another.client.get("/api/incidents");
  const [one] = body.incidents;
  assert.deepEqual(
    [body.level, one.kind, one.affected.value, body.more],
    ["bad", "stuck_queue", 1, 0],
  );
  assert.deepEqual(one.links, { queue: "q", worker: "w", job: null });
  const { path, body: sent } = one.fix.post;
  assert.equal((await client.post(path, sent)).status, 200);
  const found = await client.get(`/api/jobs?q=${encodeURIComponent(one.q)}`);
  assert.deepEqual([found.status, found.body.jobs], [200, []]);
});

test("Horizon and groups: the numbers of jobs are right, and an error names the invalid parameter.", async () => {
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
  for (const hostile of ["%00", "%ed%a0%80", "%27%22%5c%25", "%F0%9F%98%80".repeat(30)]) {
    for (const path of ["horizon?task=", "horizon?queue=", "groups?q=task:", "groups/common?q="]) {
      const { status } = await client.get(`/api/${path}${hostile}`);
      assert.ok(status === 200 || status === 400, `${path}${hostile}: ${status}`);
    }
  }
});

test("A client of the event stream receives incidents and the horizon.", async () => {
  const { port } = await startAdmin();
  const viewer = await connect(port);
  viewer.socket.write(
    "GET /api/events?events=incidents,horizon HTTP/1.1\r\nHost: localhost\r\n\r\n",
  );
  const text = await viewer.received(/event: horizon\ndata: .*\n\n/);
  assert.match(text, /event: horizon\ndata: \{.*"edges":\[-172800,/);
  assert.match(
    await viewer.received(/event: incidents\ndata: .*\n\n/),
    /event: incidents\ndata: \{"verdict":"No worker sends heartbeats","level":"ok","incidents":\[\]/,
  );
  viewer.socket.destroy();
});

test("Answers with causes, incidents, the horizon and groups match the OpenAPI document.", async () => {
  const { client, pool } = await startAdmin();
  await pool.query(`insert into worker._private_tasks (identifier) values ('t');
    insert into worker._private_job_queues (queue_name, locked_by, locked_at)
      values ('q', 'w', now() - interval '5 hours');
    insert into worker._private_jobs (task_id, job_queue_id) values (1, 1);
    insert into worker._private_jobs (task_id, attempts) values (1, 3);
    insert into worker._private_jobs (task_id, attempts, last_error, payload)
      select 1, 25, 'Error: no', '{"n":1}' from generate_series(1, 30);
    insert into worker._private_jobs (task_id, run_at)
      select 1, now() + interval '3 hours' from generate_series(1, 1001);
    insert into worker._private_workers (id, last_heartbeat_at) values ('w', now() - interval '1 hour')`);
  const document = await openapiDocument(client);
  const answers: Record<string, string> = {
    "/api/jobs/1/why": "/api/jobs/{id}/why",
    "/api/jobs/3/why": "/api/jobs/{id}/why",
    "/api/incidents": "/api/incidents",
    "/api/horizon": "/api/horizon",
    "/api/groups": "/api/groups",
    "/api/groups?by=queue": "/api/groups",
    "/api/groups/common?q=is:failed": "/api/groups/common",
  };
  for (const [url, path] of Object.entries(answers)) {
    const { body, status } = await client.get(url);
    assert.equal(status, 200, url);
    document.assertFits(body, document.answer("GET", path), url);
  }
  const { body } = await client.get("/api/incidents");
  assert.deepEqual(
    body.incidents.map(({ kind }: Json) => kind),
    ["poison", "stuck_queue", "error_group", "peak"],
  );
  for (const { q, fix } of body.incidents) {
    const found = await client.get(`/api/jobs?limit=1&q=${encodeURIComponent(q)}`);
    assert.deepEqual([found.status, found.body.jobs?.length], [200, 1], q);
    if (fix === null) continue;
    const { status, text } = await client.post(fix.post.path, fix.post.body);
    assert.equal(status, 200, `${JSON.stringify(fix)}: ${text}`);
  }
});
