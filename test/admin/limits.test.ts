// Tests the HTTP routes of limits, and what explanations of jobs (/api/jobs/:id/why), incidents and metrics show about
// limits.
import assert from "node:assert/strict";
import { test } from "node:test";
import { schemaName } from "../../src/database/schema-name.ts";
import { defineTask, run } from "../../src/index.ts";
import { addJob } from "../../src/queue/add/add-job.ts";
import { waitUntil } from "../support/until.ts";
import { type Json, migratedDatabase, startAdmin } from "./admin-harness.ts";

const { url } = await migratedDatabase("worker", ["controls", "limits"]);
const { client, pool } = await startAdmin({ url });
const db = { client: pool, schema: schemaName() };
const list = async (): Promise<Json[]> => (await client.get("/api/limits")).body.limits;

test("A limit is set, listed with its use, read in detail and removed.", async () => {
  await addJob(db, { identifier: "charge_card" });
  await addJob(db, { identifier: "charge_card" });
  const set = { action: "set", name: "stripe", task: "charge_card", concurrency: 2, rate: "100/s" };
  const { body, status } = await client.post("/api/limits", set);
  assert.deepEqual([status, body.is_new, body.is_changed, body.is_known], [200, true, true, true]);
  assert.equal(
    body.message,
    "Set the limit stripe: at most 2 jobs of task charge_card at once, 100 in a second and 20 more at once after a quiet time",
  );
  const [limit] = await list();
  const { set_at: setAt, set_by: _, ...rest } = limit;
  assert.ok(Date.parse(setAt) > 0);
  assert.deepEqual(rest, {
    ...{ name: "stripe", scope: "task", match: "charge_card", concurrency: 2, queues: null },
    ...{ rate: { limit: 100, per_ms: 1_000, burst: 20 }, from_code: false, revision: 1 },
    ...{ running: 0, waiting: 2, waiting_precision: "exact", full: [], full_queues: 0 },
    ...{ state: "free", cause: null, backing_off: null },
  });
  const one = (await client.get("/api/limits/stripe")).body;
  assert.deepEqual([one.name, one.permits, one.queue_rows, one.back_offs], ["stripe", [], [], []]);
  assert.equal((await client.get("/api/limits/none")).status, 404);
  const removed = await client.post("/api/limits", { action: "remove", name: "stripe" });
  assert.equal(removed.body.message, "Removed the limit stripe");
  const again = await client.post("/api/limits", { action: "remove", name: "stripe" });
  assert.equal(again.status, 404);
  assert.deepEqual(await list(), []);
});

test("A job that its worker has not reported counts as running for a limit if the worker uses a permit of the limit.", async () => {
  await client.post("/api/limits", { action: "set", name: "short", task: "brief", concurrency: 1 });
  await addJob(db, { identifier: "brief" });
  await addJob(db, { identifier: "brief" });
  const report = JSON.stringify({ running_job_ids: ["999999"], running_jobs: 1 });
  const heartbeat =
    "insert into worker._private_workers (id, last_heartbeat_at, metadata) values ('w', now(), $1)";
  await pool.query(heartbeat, [report]);
  await pool.query(`insert into worker._private_limit_permits (limit_id, worker_id, permits, in_use, wanted)
    select id, 'w', 1, 1, 1 from worker._private_limits where name = 'short'`);
  const limit = (await client.get("/api/limits/short")).body;
  assert.deepEqual([limit.running, limit.state, limit.cause], [1, "full", "1 of 1 running"]);
  const { id } = await addJob(db, { identifier: "brief" });
  const { sentence } = (await client.get(`/api/jobs/${id}/why`)).body;
  assert.equal(sentence, "Waits for a limit. Limit short: 1 of 1 running, 3 wait.");
  // The due jobs have more different priorities than the admin reads, so the number of waiting jobs is a lower bound.
  await pool.query(`insert into worker._private_jobs (task_id, priority)
    select id, n from worker._private_tasks, generate_series(1, 40) n where identifier = 'brief'`);
  const why = (await client.get(`/api/jobs/${id}/why`)).body;
  assert.match(why.sentence, /, at least 34 wait\.$/);
  await pool.query("delete from worker._private_jobs where priority > 0");
  await pool.query("delete from worker._private_workers");
  await client.post("/api/limits", { action: "remove", name: "short" });
});

test("A job counts as running for its limit if its worker reports the job and has locked it.", async () => {
  await client.post("/api/limits", { action: "set", name: "one", task: "t", concurrency: 1 });
  const { id } = await addJob(db, { identifier: "t" });
  const other = await addJob(db, { identifier: "t" });
  const report = { running_job_ids: [id, other.id, "x"], running_jobs: 3 };
  await pool.query(
    "insert into worker._private_workers (id, last_heartbeat_at, metadata) values ('w', now(), $1)",
    [JSON.stringify(report)],
  );
  const lock = "update worker._private_jobs set locked_by = 'w', locked_at = now() where id = $1";
  await pool.query(lock, [id]);
  await pool.query(`insert into worker._private_limit_permits (limit_id, worker_id, permits, in_use, wanted)
    select id, 'w', 1, 1, 3 from worker._private_limits`);
  const one = (await client.get("/api/limits/one")).body;
  assert.deepEqual([one.running, one.waiting, one.state], [1, 1, "full"]);
  assert.deepEqual(one.permits, [{ worker_id: "w", permits: 1, in_use: 1, wanted: 3 }]);
  await pool.query("delete from worker._private_workers");
  await client.post("/api/limits", { action: "remove", name: "one" });
});

test("A limit is full once its permits are given out, although fewer jobs run than the limit allows.", async () => {
  await client.post("/api/limits", { action: "set", name: "few", task: "few", concurrency: 2 });
  for (let n = 0; n < 3; n++) await addJob(db, { identifier: "few" });
  await pool.query(
    "insert into worker._private_workers (id, last_heartbeat_at) values ('w', now())",
  );
  await pool.query(`insert into worker._private_limit_permits (limit_id, worker_id, permits, in_use, wanted)
    select id, 'w', 2, 1, 3 from worker._private_limits`);
  const few = (await client.get("/api/limits/few")).body;
  assert.deepEqual([few.running, few.state, few.cause], [1, "full", "all 2 permits given out"]);
  await pool.query("delete from worker._private_workers");
  await client.post("/api/limits", { action: "remove", name: "few" });
});

test("A limit with only a rate is full when the rate is used up, not when a queue runs a job.", async () => {
  const set = { action: "set", name: "hourly", queue: "hourly", rate: "1/h" };
  await client.post("/api/limits", set);
  await addJob(db, { identifier: "t", spec: { queueName: "hourly" } });
  await pool.query(`insert into worker._private_queue_slots (queue_id, slot, locked_by, locked_at)
    select id, 1, 'w', now() from worker._private_job_queues where queue_name = 'hourly'`);
  const read = async () => (await client.get("/api/limits/hourly")).body;
  const free = await read();
  assert.deepEqual([free.running, free.state, free.cause], [1, "free", null]);
  await pool.query(`insert into worker._private_rates
    select id, 'hourly', now() + interval '10 minutes' from worker._private_limits`);
  // An answer is cached for a moment.
  await waitUntil("the rate is used up", async () => (await read()).cause === "rate used up");
  await client.post("/api/limits", { action: "remove", name: "hourly" });
});

test("A live worker runs as many jobs as the limit allows. The limit's details and the explanations of waiting jobs show this number.", async () => {
  const gate = Promise.withResolvers<void>();
  const slow = defineTask("slow", () => gate.promise);
  const limits = [{ name: "slow", task: "slow", concurrency: 2 }];
  const options = { connectionString: url, tasks: [slow], logger: "silent" } as const;
  const worker = await run({ ...options, limits, handleSignals: false });
  try {
    for (let n = 0; n < 5; n++) await worker.utils.addJob("slow");
    let one: Json = {};
    await waitUntil("the limit is full", async () => {
      one = (await client.get("/api/limits/slow")).body;
      return one.running === 2;
    });
    assert.deepEqual([one.waiting, one.state, one.from_code], [3, "full", true]);
    assert.deepEqual(
      one.permits.map((held: Json) => [held.worker_id, held.permits, held.in_use]),
      [[worker.id, 2, 2]],
    );
    const { jobs } = (await client.get("/api/jobs?q=task:slow")).body;
    const sentences = await Promise.all(
      jobs.map(async ({ id }: Json) => (await client.get(`/api/jobs/${id}/why`)).body.sentence),
    );
    const waiting = sentences.filter((text) =>
      /limit slow: 2 of 2 running, \d waits?\.$/i.test(text),
    );
    assert.equal(waiting.length, 3, sentences.join("\n"));
  } finally {
    gate.resolve();
    await worker.drain();
    await worker.stop();
  }
  await client.post("/api/limits", { action: "remove", name: "slow" });
});

test("The details of a limit of queues list the full queues, with their slots and waiting jobs.", async () => {
  await addJob(db, { identifier: "t", spec: { queueName: "tenant/1" } });
  await addJob(db, { identifier: "t", spec: { queueName: "tenant/2" } });
  const set = { action: "set", name: "tenants", queue: "tenant/*", concurrency: 1 };
  await client.post("/api/limits", set);
  await pool.query(`insert into worker._private_queue_slots (queue_id, slot, locked_by, locked_at)
    select id, 1, 'w', now() from worker._private_job_queues where queue_name = 'tenant/1'`);
  const one = (await client.get("/api/limits/tenants")).body;
  assert.deepEqual([one.running, one.waiting, one.queues, one.state], [1, 2, 2, "full"]);
  const full = { name: "tenant/1", running: 1, slots: 1, waiting: 1 };
  assert.deepEqual(one.full, [full]);
  assert.deepEqual(one.queue_rows, [full, { name: "tenant/2", running: 0, slots: 1, waiting: 1 }]);
  await pool.query(`insert into worker._private_job_queues (queue_name)
    select 'tenant/' || n from generate_series(3, 13) as n`);
  await pool.query(`insert into worker._private_queue_slots (queue_id, slot, locked_by, locked_at)
    select id, 1, 'w', now() from worker._private_job_queues where queue_name ~ '^tenant/(\\d\\d|[3-9])$'`);
  // An answer is cached for a moment.
  await waitUntil("12 queues are full", async () => {
    const { full, full_queues: count } = (await client.get("/api/limits/tenants")).body;
    return full.length === 10 && count === 12;
  });
  await client.post("/api/limits", { action: "remove", name: "tenants" });
});

test("The back-off of a limited task is shown and can be ended; a pause by a user remains.", async () => {
  await client.post("/api/limits", { action: "set", name: "api", task: "call", concurrency: 1 });
  await pool.query(`insert into worker._private_pauses (scope, name, paused_at, resume_at, reason)
    values ('task', 'call', now(), '2100-01-01', '429')`);
  await pool.query(`insert into worker._private_back_offs (scope, name, until, reason, job_id, task)
    values ('task', 'call', '2100-01-01', '429 from api', 7, 'call')`);
  const one = (await client.get("/api/limits/api")).body;
  assert.equal(one.state, "backing_off");
  assert.deepEqual(one.backing_off, { until: "2100-01-01T00:00:00.000Z", reason: "429 from api" });
  assert.deepEqual(
    one.back_offs.map(({ began_at: _, ...rest }: Json) => rest),
    [
      {
        ...{ scope: "task", name: "call", until: "2100-01-01T00:00:00.000Z" },
        ...{ reason: "429 from api", job_id: 7, task: "call" },
      },
    ],
  );
  const [pause] = (await client.get("/api/pauses")).body.pauses;
  assert.deepEqual([pause.name, pause.backs_off], ["call", true]);
  const waits = await addJob(db, { identifier: "call" });
  const why = (await client.get(`/api/jobs/${waits.id}/why`)).body;
  assert.equal(why.sentence, "The task call is backing off until 2100-01-01T00:00:00Z: 429.");
  const end = { action: "end-back-off", name: "api" };
  const { body } = await client.post("/api/limits", end);
  assert.deepEqual([body.ended, body.message], [1, "Ended the back-off of the task call"]);
  assert.deepEqual((await client.get("/api/pauses")).body.pauses, []);
  assert.equal((await client.get("/api/limits/api")).body.state, "free");
  assert.equal((await client.post("/api/limits", end)).body.ended, 0);

  await client.post("/api/pauses", { action: "pause", scope: "task", name: "call", wait: false });
  await pool.query(`insert into worker._private_back_offs (scope, name, until)
    values ('task', 'call', '2100-01-01')`);
  await client.post("/api/limits", end);
  const { pauses } = (await client.get("/api/pauses")).body;
  assert.deepEqual([pauses.length, pauses[0].backs_off], [1, false]);
});

test("The explanation of a job that waits for a full limit names this limit, and the job does not count as overdue.", async () => {
  await client.post("/api/limits", { action: "set", name: "s3", task: "up*", concurrency: 1 });
  const { id: running } = await addJob(db, { identifier: "upload" });
  const old = new Date(Date.now() - 400_000);
  const { id } = await addJob(db, { identifier: "upload", spec: { runAt: old } });
  await addJob(db, { identifier: "upload" });
  const report = { running_job_ids: [running], task_identifiers: ["upload"], tasks_cut: false };
  await pool.query(
    "insert into worker._private_workers (id, last_heartbeat_at, metadata) values ('w', now(), $1)",
    [JSON.stringify({ ...report, running_jobs: 1, fetched_job_ids: [], threshold_ms: 600_000 })],
  );
  const lock = "update worker._private_jobs set locked_by = 'w', locked_at = now() where id = $1";
  await pool.query(lock, [running]);
  const why = (await client.get(`/api/jobs/${id}/why`)).body;
  assert.equal(why.sentence, "Waits for a limit. Limit s3: 1 of 1 running, 2 wait.");
  const [cause] = why.causes;
  assert.deepEqual(
    [cause.kind, cause.text, cause.detail],
    ["limited", "limit s3: 1 of 1 running, 2 wait", "at most 1 job of tasks up* at once"],
  );
  let incidents: Json[] = [];
  await waitUntil("an incident reports the full limit", async () => {
    ({ incidents } = (await client.get("/api/incidents")).body);
    return incidents.some(({ kind }) => kind === "limited");
  });
  const limited = incidents.find(({ kind }) => kind === "limited");
  assert.equal(limited?.title, "Limit s3 is full");
  assert.match(limited?.sentence, /^2 jobs wait, the oldest for [\d ms]+: 1 of 1 running\.$/);
  assert.deepEqual(
    incidents.filter(({ kind }) => kind === "old_ready"),
    [],
  );
  await pool.query(`insert into worker._private_back_offs (scope, name, until)
    values ('limit', 's3', '2100-01-01')`);
  await waitUntil("an incident reports the back-off of the limit s3", async () => {
    ({ incidents } = (await client.get("/api/incidents")).body);
    return incidents.some(({ title }) => title === "Limit s3 is backing off");
  });
  await client.post("/api/limits", { action: "end-back-off", name: "s3" });
  // When the worker is stale, the jobs wait for a worker, and not for the limit.
  const setHeartbeat = (time: string) =>
    pool.query("update worker._private_workers set last_heartbeat_at = $1 where id = 'w'", [time]);
  await setHeartbeat("-infinity");
  await waitUntil("no incident reports a limit", async () => {
    ({ incidents } = (await client.get("/api/incidents")).body);
    return incidents.every(({ kind }) => kind !== "limited");
  });
  assert.ok(incidents.some(({ kind, affected }) => kind === "old_ready" && affected.value >= 2));
  await setHeartbeat("now");

  const rate = { action: "set", name: "s3", rate: "1/h", concurrency: 0 };
  await client.post("/api/limits", rate);
  await pool.query(`insert into worker._private_rates
    select id, '', now() + interval '10 minutes' from worker._private_limits where name = 's3'`);
  const used = (await client.get(`/api/jobs/${id}/why`)).body.causes[0];
  assert.match(used.text, /^limit s3: 1 per hour are used up, 2 wait, next in (600|5\d\d) s$/);
  const full = (await client.get("/api/limits/s3")).body;
  assert.deepEqual([full.state, full.cause], ["full", "rate used up"]);
  // All permits are given out, but none is used, because the rate has no token left. So the job waits for the rate.
  await client.post("/api/limits", { ...rate, concurrency: 5 });
  await pool.query(`insert into worker._private_limit_permits (limit_id, worker_id, permits)
    select id, 'w', 5 from worker._private_limits where name = 's3'`);
  const unused = (await client.get(`/api/jobs/${id}/why`)).body.causes[0];
  assert.match(unused.text, /^limit s3: 1 per hour are used up, 2 wait, next in (600|5\d\d) s$/);

  await pool.query("update worker._private_jobs set locked_at = now() where id = $1", [running]);
  await client.post("/api/limits", { action: "remove", name: "s3" });
  const after = (await client.get(`/api/jobs/${id}/why`)).body;
  assert.doesNotMatch(after.sentence, /limit/);
  await pool.query("delete from worker._private_jobs; delete from worker._private_workers");
});

test("Jobs of a queue with a limit are ready, and wait for a slot of the queue, not for its lock.", async () => {
  await client.post("/api/limits", { action: "set", name: "q", queue: "q", concurrency: 2 });
  const old = new Date(Date.now() - 400_000);
  const { id } = await addJob(db, { identifier: "upload", spec: { queueName: "q", runAt: old } });
  await pool.query(`update worker._private_job_queues
    set locked_by = 'managed:2', locked_at = 'infinity' where queue_name = 'q'`);
  const why = async () => (await client.get(`/api/jobs/${id}/why`)).body;
  assert.equal((await why()).condition, "ready");
  await pool.query(`insert into worker._private_queue_slots (queue_id, slot, locked_by, locked_at)
    select id, slot, 'w', now() from worker._private_job_queues, generate_series(1, 2) as slot
    where queue_name = 'q'`);
  const { condition, causes } = await why();
  assert.deepEqual([condition, causes[0].text], ["ready", "limit q: 2 of 2 running in q, 1 waits"]);
  assert.equal(causes[0].links.queue, "q");
  const { jobs } = (await client.get("/api/jobs?q=is:blocked")).body;
  assert.deepEqual(jobs, []);
  await pool.query(`insert into worker._private_workers (id, last_heartbeat_at, metadata)
    values ('w', now(), '{"threshold_ms": 600000}')`);
  await waitUntil(
    "an incident reports the full limit, and none reports a missing worker",
    async () => {
      const { incidents } = (await client.get("/api/incidents")).body;
      const kinds = incidents.map(({ kind }: Json) => kind);
      return kinds.includes("limited") && !kinds.includes("no_worker");
    },
  );
});

test("A limit that is full for several queues is one incident, whose query finds the jobs of all these queues.", async () => {
  const old = new Date(Date.now() - 400_000);
  for (const n of [1, 2, 3, 3]) {
    const spec = { queueName: `shop/${n}`, runAt: old };
    await addJob(db, { identifier: "upload", spec });
  }
  await client.post("/api/limits", {
    action: "set",
    name: "shops",
    queue: "shop/*",
    concurrency: 1,
  });
  await pool.query(`insert into worker._private_queue_slots (queue_id, slot, locked_by, locked_at)
    select id, 1, 'w', now() from worker._private_job_queues where queue_name like 'shop/%'`);
  const ofShops = async (): Promise<Json[]> => {
    const { incidents } = (await client.get("/api/incidents")).body;
    return incidents.filter(({ id }: Json) => id.startsWith("limited:shops"));
  };
  await waitUntil(
    "an incident of the limit shops exists",
    async () => (await ofShops()).length > 0,
  );
  const [incident, ...others] = await ofShops();
  assert.deepEqual([others, incident?.affected.value], [[], 4]);
  assert.match(
    incident?.sentence,
    /^4 jobs wait in 3 queues, the oldest for [\d ms]+: 1 of 1 running in shop\/\d, for example\.$/,
  );
  const { jobs } = (await client.get(`/api/jobs?q=${encodeURIComponent(incident?.q)}`)).body;
  assert.equal(jobs.length, 4);
});

test("Limits can be read even if SQL has written huge numbers of permits.", async () => {
  await pool.query(`
    insert into worker._private_limits (name, scope, match, concurrency) values ('huge', 'task', 'huge', 1);
    insert into worker._private_workers (id, last_heartbeat_at) values ('one', now()), ('two', now());
    insert into worker._private_limit_permits (limit_id, worker_id, permits, in_use)
    select limits.id, worker, 2147483647, 2147483647
    from worker._private_limits as limits, unnest(array['one', 'two']) as worker where limits.name = 'huge'`);
  assert.equal((await client.get("/api/limits/huge")).status, 200);
  assert.ok((await list()).some(({ name }) => name === "huge"));
  await pool.query(
    "delete from worker._private_limits where name = 'huge'; delete from worker._private_workers where id in ('one', 'two')",
  );
});

test("Metrics include every limit, and its concurrency only if the limit has one.", async () => {
  const set = { action: "set", task: "metered" };
  await client.post("/api/limits", { ...set, name: "both", concurrency: 3, rate: "120/min" });
  await client.post("/api/limits", { ...set, name: "lone", rate: "1/s" });
  await addJob(db, { identifier: "metered" });
  let text = "";
  await waitUntil("the metrics show the waiting job of the limit `lone`", async () => {
    ({ text } = await client.get("/metrics"));
    return text.includes('worker_limit_waiting{limit="lone"} 1');
  });
  assert.match(text, /^worker_limit_concurrency\{limit="both"\} 3$/m);
  assert.match(text, /^worker_limit_rate_per_second\{limit="both"\} 2$/m);
  assert.match(text, /^worker_limit_running\{limit="both"\} 0$/m);
  assert.doesNotMatch(text, /worker_limit_concurrency\{limit="lone"\}/);
});

test("The number of jobs that wait for a limit includes jobs that were added after a scrape of metrics.", async () => {
  const own = await startAdmin({ url: (await migratedDatabase("worker", ["limits"])).url });
  const ownDb = { client: own.pool, schema: schemaName() };
  await own.client.post("/api/limits", { action: "set", name: "l", task: "t", concurrency: 1 });
  await own.client.get("/metrics");
  await addJob(ownDb, { identifier: "t" });
  await own.client.post("/api/jobs", { identifier: "t" });
  assert.equal((await own.client.get("/api/limits/l")).body.waiting, 2);
});

test("A request to set an invalid limit gets 400 and changes nothing. Without the tables of limits, a request to set a limit gets 409 and the command that adds the tables.", async () => {
  const before = await list();
  for (const wrong of [
    { task: "t", rate: "fast" },
    { task: "t", queue: "q", concurrency: 1 },
    { task: "t", concurrency: -1 },
    { task: "t", concurrency: 1.5 },
    { concurrency: 1 },
    {},
  ]) {
    const { status } = await client.post("/api/limits", { action: "set", name: "l", ...wrong });
    assert.equal(status, 400, JSON.stringify(wrong));
  }
  assert.deepEqual(await list(), before);
  const bare = await migratedDatabase("worker");
  const admin = await startAdmin({ url: bare.url });
  const { body } = await admin.client.get("/api/limits");
  assert.deepEqual([body.limits, body.missing.extension], [[], "limits"]);
  assert.deepEqual(
    [body.missing.may_add, body.missing.command],
    [true, "worker migrate --with limits"],
  );
  const refused = await admin.client.post("/api/limits", {
    ...{ action: "set", name: "l", task: "t", concurrency: 1 },
  });
  assert.deepEqual([refused.status, refused.body.code], [409, "extension_missing"]);
  assert.match(refused.body.error, /"worker migrate --with limits" adds them/);
  const added = await admin.client.post("/api/extensions", { action: "add", name: "limits" });
  assert.equal(added.status, 200);
  assert.equal((await admin.client.get("/api/limits")).body.missing, null);
});
