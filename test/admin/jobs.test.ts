// Tests the routes that add, read, change and remove jobs.
import assert from "node:assert/strict";
import { test } from "node:test";
import { startAdmin } from "./admin-harness.ts";

const { client, pool } = await startAdmin();

const addJob = async (fields: object): Promise<string> => {
  const { status, text } = await client.post("/api/jobs", fields);
  assert.equal(status, 200, text);
  return /"id":(\d+)/.exec(text)?.[1] ?? "";
};

test("A payload passes byte for byte, with large integers, duplicate keys, key order and escapes.", async () => {
  const payloads = [
    '{"n":1234567890123456789,"n":-0,"z":1e400,"a":0.10000000000000000000001}',
    '{"b":1, "a" : [ 1,\t2 ] ,"":{}}',
    '{"u":"\\u00e9\\ud83d\\ude00\\u0041\\/", "v":"é😀</script><!--"}',
    '{"__proto__":{"x":1},"constructor":null}',
    "[9223372036854775808,null]",
    '"text"',
    "null",
    "-12.50",
  ];
  for (const payload of payloads) {
    const body = `{"identifier":"exact", "payload" :\n ${payload}\r\n}`;
    const added = await client.post("/api/jobs", body);
    assert.equal(added.status, 200, added.text);
    assert.ok(added.text.includes(`"payload":${payload},`), added.text);
    const id = added.body.jobs[0].id;
    assert.ok((await client.get(`/api/jobs/${id}`)).text.includes(`"payload":${payload},`));
    const listed = await client.get("/api/jobs?identifier=exact&limit=500");
    assert.ok(listed.text.includes(`"payload":${payload},`));
    const completed = await client.post("/api/jobs/action", { action: "complete", ids: [id] });
    assert.ok(completed.text.includes(`"payload":${payload},`));
  }
});

test("A job that is added without a payload gets the payload {}.", async () => {
  const { body } = await client.post("/api/jobs", { identifier: "empty" });
  assert.deepEqual(body.jobs[0].payload, {});
});

test("An added job has the values of all fields of the request.", async () => {
  const { body } = await client.post("/api/jobs", {
    identifier: "all",
    payload: { a: 1 },
    queue: "q",
    run_at: "2031-01-31T08:00:00.5+02:00",
    max_attempts: 3,
    key: "k",
    job_key_mode: "preserve-run-at",
    priority: -5,
    flags: ["slow", "__proto__"],
  });
  const [job] = body.jobs;
  assert.deepEqual(Object.keys(job).sort(), [
    "attempts",
    "created_at",
    "flags",
    "id",
    "job_queue_id",
    "key",
    "last_error",
    "locked_at",
    "locked_by",
    "max_attempts",
    "payload",
    "priority",
    "revision",
    "run_at",
    "task_id",
    "task_identifier",
    "updated_at",
  ]);
  assert.equal(body.message, `Added job ${job.id} for task all`);
  const { body: listed } = await client.get(`/api/jobs/${job.id}`);
  const { created_at, updated_at, flags, ...rest } = listed;
  assert.ok(created_at <= updated_at);
  assert.deepEqual(Object.keys(flags), ["slow", "__proto__"]);
  assert.deepEqual(rest, {
    id: job.id,
    task_identifier: "all",
    queue_name: "q",
    payload: { a: 1 },
    priority: -5,
    run_at: "2031-01-31T06:00:00.500Z",
    attempts: 0,
    max_attempts: 3,
    last_error: null,
    key: "k",
    locked_at: null,
    locked_by: null,
    revision: 0,
    is_available: true,
    state: "scheduled",
  });
});

test("An explicit null is the same as an absent field.", async () => {
  const nothing = { queue: null, run_at: null, key: null, priority: null, flags: null };
  const { status } = await client.post("/api/jobs", { identifier: "nulls", ...nothing });
  assert.equal(status, 200);
  const id = Number(await addJob({ identifier: "nulls" }));
  const action = { action: "reschedule", ids: [id], priority: 4, run_at: null, reason: null };
  assert.equal((await client.post("/api/jobs/action", action)).body.jobs[0].priority, 4);
});

test("Job key modes have dashes in JSON, and are accepted with underscores, too.", async () => {
  const keyed = (priority: number, job_key_mode?: string) =>
    client.post("/api/jobs", { identifier: "keyed", key: "one", priority, job_key_mode });
  const first = (await keyed(1)).body.jobs[0];
  const deduped = (await keyed(2, "unsafe-dedupe")).body.jobs[0];
  assert.deepEqual([deduped.id, deduped.priority], [first.id, 1]);
  const replaced = (await keyed(3, "replace")).body.jobs[0];
  assert.deepEqual([replaced.id, replaced.priority], [first.id, 3]);
  assert.equal((await keyed(4, "unsafe_dedupe")).body.jobs[0].priority, 3);
  assert.equal((await keyed(5, "preserve_run_at")).body.jobs[0].priority, 5);
  assert.equal((await keyed(6, "preserve run at")).status, 400);
});

test("If a trigger prevents the deletion of a job, the job is reported as unchanged, not as locked by a worker.", async () => {
  const id = Number(await addJob({ identifier: "kept" }));
  await pool.query(`
    create function kept() returns trigger language plpgsql as 'begin return null; end';
    create trigger kept before delete on worker._private_jobs for each row
      when (old.id = ${id}) execute function kept()`);
  const { body } = await client.post("/api/jobs/action", { action: "complete", ids: [id] });
  await pool.query("drop function kept() cascade");
  assert.equal(
    body.message,
    `Completed 0 of 1 job; 1 unchanged, because a trigger, a policy or another session prevented it: #${id}`,
  );
});

test("An action's message has the numbers of changed and requested jobs, and locked jobs are skipped.", async () => {
  const act = async (fields: object) => (await client.post("/api/jobs/action", fields)).body;
  const ids = [];
  for (let n = 0; n < 3; n++) ids.push(Number(await addJob({ identifier: "acted" })));
  const [locked, ...free] = ids;
  await pool.query(
    "update worker._private_jobs set locked_at = now(), locked_by = 'w' where id = $1",
    [locked],
  );
  const now = await act({ action: "run-now", ids, priority: 7 });
  assert.equal(
    now.message,
    `Rescheduled to run now: 2 of 3 jobs; 1 skipped, a worker has locked it: #${locked}`,
  );
  assert.deepEqual(
    now.jobs.map((job: { id: number; priority: number }) => [job.id, job.priority]),
    free.map((id) => [id, 7]),
  );
  const later = { action: "reschedule", ids: [...free, ...free], run_at: "2040-01-01T00:00:00Z" };
  const rescheduled = await act(later);
  assert.equal(rescheduled.message, "Rescheduled 2 of 2 jobs");
  assert.equal(rescheduled.jobs[0].run_at, "2040-01-01T00:00:00.000Z");
  const failed = await act({ action: "fail", ids: [locked, free[0]], reason: " \n" });
  assert.equal(
    failed.message,
    `Marked as failed: 1 of 2 jobs; 1 skipped, a worker has locked it: #${locked}`,
  );
  assert.equal(failed.jobs[0].last_error, "Marked failed from the worker admin UI");
  const why = await act({ action: "fail", ids: [free[1]], reason: "because" });
  assert.equal(why.jobs[0].last_error, "because");
  assert.equal(why.jobs[0].attempts, why.jobs[0].max_attempts);
  const done = await act({ action: "complete", ids: [...ids, 4_000_000_000] });
  assert.equal(
    done.message,
    `Completed 2 of 4 jobs; 1 skipped, a worker has locked it: #${locked}; 1 not found: #4000000000`,
  );
  assert.equal((await act({ action: "complete", ids: [locked] })).jobs.length, 0);
});

test("The actions run-now and reschedule do not count a job as changed if it has no attempts left; retry gives the job attempts again.", async () => {
  const act = async (fields: object) => (await client.post("/api/jobs/action", fields)).body;
  const add = async () => Number(await addJob({ identifier: "spent", max_attempts: 3 }));
  const [spent, fresh] = [await add(), await add()];
  await act({ action: "fail", ids: [spent] });
  const how = "has no attempts left and will not run: retry it, or set attempts below max_attempts";
  const alone = await act({ action: "run-now", ids: [spent] });
  assert.equal(alone.message, `Rescheduled to run now: 0 of 1 job; 1 ${how}`);
  assert.deepEqual([alone.requested, alone.done, alone.jobs.length], [1, 0, 0]);
  const both = await act({ action: "run-now", ids: [spent, fresh, 4_000_000_000] });
  assert.equal(
    both.message,
    `Rescheduled to run now: 1 of 3 jobs; 1 not found: #4000000000; 1 ${how}`,
  );
  assert.deepEqual([both.requested, both.done], [3, 1]);
  const later = { action: "reschedule", ids: [spent], run_at: "2040-01-01T00:00:00Z" };
  assert.equal((await act(later)).message, `Rescheduled 0 of 1 job; 1 ${how}`);
  // A reschedule without run_at also changes a job that has no attempts left.
  const urgent = await act({ action: "reschedule", ids: [spent], priority: -1 });
  assert.equal(urgent.message, "Rescheduled 1 of 1 job");
  const given = await act({ action: "run-now", ids: [spent], attempts: 2 });
  assert.equal(given.message, "Rescheduled to run now: 1 of 1 job");
  await act({ action: "fail", ids: [spent] });
  const retried = await act({ action: "retry", ids: [spent, fresh], max_attempts: 7 });
  assert.equal(retried.message, "Retried 2 of 2 jobs");
  for (const { attempts, max_attempts, run_at } of retried.jobs) {
    assert.deepEqual([attempts, max_attempts], [0, 7]);
    assert.ok(Date.parse(run_at) <= Date.now() + 60_000);
  }
});

test("The action run-now with a time in the past, or a little ahead of the clock, makes jobs due now.", async () => {
  const ahead = new Date(Date.now() + 30_000).toISOString();
  for (const runAt of ["2020-01-01T00:00:00Z", ahead]) {
    const id = Number(await addJob({ identifier: "punctual", run_at: "2090-01-01T00:00:00Z" }));
    const given = { action: "run-now", ids: [id], run_at: runAt, reason: null };
    const { body } = await client.post("/api/jobs/action", given);
    assert.equal(body.message, "Rescheduled to run now: 1 of 1 job");
    assert.ok(body.jobs[0].run_at > "2021" && body.jobs[0].run_at < ahead);
  }
});

test("The answer to an add reports whether the job is new, was updated, or was left unchanged.", async () => {
  const add = async (more: object) =>
    (await client.post("/api/jobs", { identifier: "once", key: "once", ...more })).body;
  const added = await add({});
  const [{ id }] = added.jobs;
  assert.deepEqual([added.message, added.outcome], [`Added job ${id} for task once`, "added"]);
  const unchanged = await add({ job_key_mode: "unsafe-dedupe" });
  assert.deepEqual(
    [unchanged.message, unchanged.outcome],
    [`Nothing was added: job ${id} has the key once and is unchanged`, "kept"],
  );
  const updated = await add({ priority: 3 });
  assert.deepEqual(
    [updated.message, updated.outcome],
    [`Updated job ${id} for task once, which had the key once`, "updated"],
  );
});

test("Times are sent and accepted with microseconds.", async () => {
  const id = Number(await addJob({ identifier: "timely", run_at: "2031-01-31T08:00:00.123456Z" }));
  const other = Number(await addJob({ identifier: "timely" }));
  const listed = (await client.get("/api/jobs?identifier=timely")).body.jobs;
  assert.equal(listed[0].run_at, "2031-01-31T08:00:00.123456Z");
  const { rows } = await pool.query(
    `select to_char(created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as text
     from worker._private_jobs where id = $1`,
    [id],
  );
  assert.equal(listed[0].created_at.replace(/(\.\d{3})Z/, "$1000Z"), rows[0].text);
  const { run_at } = (await client.get(`/api/jobs/${id}`)).body;
  const { body } = await client.post("/api/jobs/action", {
    action: "reschedule",
    ids: [other],
    run_at,
  });
  assert.equal(body.jobs[0].run_at, run_at);
  const same = await pool.query(
    "select count(distinct run_at)::int as n from worker._private_jobs where id in ($1, $2)",
    [id, other],
  );
  assert.deepEqual(same.rows, [{ n: 1 }]);
});

test("Ids beyond 2^53 are exact.", async () => {
  await pool.query(
    `insert into worker._private_jobs (id, task_id) overriding system value
     select id, (select id from worker._private_tasks limit 1)
     from unnest($1::bigint[]) as id`,
    [["9007199254740992", "9007199254740993", "9223372036854775807"]],
  );
  const { text } = await client.post(
    "/api/jobs/action",
    '{"action":"complete","ids":[9007199254740993]}',
  );
  assert.match(text, /^\{"message":"Completed 1 of 1 job","jobs":\[\{"id":9007199254740993,/);
  assert.equal((await client.get("/api/jobs/9007199254740993")).status, 404);
  assert.equal((await client.get("/api/jobs/9007199254740992")).status, 200);
  assert.equal((await client.get("/api/jobs/9223372036854775807")).status, 200);
  await pool.query("delete from worker._private_jobs where id > 9000000000000000");
});

test("A removal by key deletes a waiting job, and takes the key from a running job.", async () => {
  const remove = async (key: string) =>
    (await client.post("/api/jobs/remove-by-key", { key })).body.message;
  await addJob({ identifier: "removed", key: "gone" });
  assert.equal(await remove("gone"), "Removed the job with the key gone");
  assert.equal(await remove("gone"), "There is no job with the key gone");
  const id = await addJob({ identifier: "removed", key: "busy" });
  await pool.query(
    "update worker._private_jobs set locked_at = now(), locked_by = 'w' where id = $1",
    [id],
  );
  assert.match(await remove("busy"), /^The job with the key busy is locked/);
  assert.equal((await client.get(`/api/jobs/${id}`)).body.key, null);
});

test("A page of jobs is in ascending order of ids, and its cursor leads to the next page.", async () => {
  for (let n = 0; n < 5; n++) await addJob({ identifier: "paged" });
  const page = async (query: string) => {
    const { body } = await client.get(`/api/jobs?identifier=paged&${query}`);
    return { ids: body.jobs.map(({ id }: { id: number }) => id), cursor: body.next_cursor };
  };
  const all = await page("state=all");
  assert.equal(all.ids.length, 5);
  assert.equal(all.cursor, null);
  assert.deepEqual(
    all.ids,
    [...all.ids].sort((a, b) => a - b),
  );
  const first = await page("limit=2");
  const second = await page(`limit=2&cursor=${encodeURIComponent(first.cursor)}`);
  const last = await page(`limit=2&cursor=${encodeURIComponent(second.cursor)}`);
  assert.deepEqual([...first.ids, ...second.ids, ...last.ids], all.ids);
  assert.equal(last.cursor, null);
  assert.deepEqual((await page("offset=3")).ids, all.ids.slice(3));
  assert.deepEqual((await page("limit=99999")).ids, all.ids);
  assert.deepEqual(await page("limit=0"), { ids: [], cursor: null });
  assert.deepEqual((await page("queue=&search=&cursor=")).ids, all.ids);
  assert.deepEqual((await page("state=failed")).ids, []);
  assert.deepEqual((await page(`search=${all.ids[1]}`)).ids, [all.ids[1]]);
});

test("The status is 404 for a job that does not exist, and 400 for an invalid id.", async () => {
  const { status, body } = await client.get("/api/jobs/8999999999");
  assert.deepEqual([status, body.code], [404, "not_found"]);
  for (const id of ["abc", "-1", "1.5", "9223372036854775808", "1%2F2", "%00", "01"]) {
    const refused = await client.get(`/api/jobs/${id}`);
    assert.deepEqual([refused.status, refused.body.code], [400, "bad_input"], id);
  }
});

test("A unique job is added once, and the answer to another add reports a duplicate.", async () => {
  const add = (payload: object, more: object = { unique_while: "unfinished" }) =>
    client.post("/api/jobs", { identifier: "once", payload, unique_by: ["args.id"], ...more });
  const first = (await add({ id: 1, n: 1 })).body;
  assert.deepEqual([first.outcome, first.is_duplicate], ["added", false]);
  const kept = (await add({ n: 2, id: 1.0 }, { unique_while: "failed_too" })).body;
  assert.deepEqual([kept.outcome, kept.is_duplicate], ["kept", true]);
  assert.deepEqual(kept.jobs[0].payload, { id: 1, n: 1 });
  const updated = (await add({ id: 1, n: 3 }, { unique_while: "waiting" })).body;
  assert.deepEqual([updated.outcome, updated.is_duplicate], ["updated", true]);
  assert.equal(
    updated.message,
    `Updated job ${first.jobs[0].id} for task once, which was already there`,
  );
  const delayed = (
    await add({ id: 1 }, { unique_while: "waiting", debounce_secs: 1.5, debounce_max_secs: 60 })
  ).body.jobs[0];
  assert.equal(delayed.id, first.jobs[0].id);
  assert.equal(Date.parse(delayed.run_at) - Date.parse(delayed.updated_at), 1_500);
  const other = (await add({ id: 1 }, { unique_while: "unfinished", unique_period_secs: 3_600 }))
    .body;
  assert.equal(other.outcome, "added");
});

test("Invalid options for uniqueness, debounce or throttle are reported by their names in the request.", async () => {
  const refused: [object, string, RegExp][] = [
    [{ unique_by: ["args"] }, "unique_while", /is required/],
    [{ unique_while: "waiting" }, "unique_by", /is required/],
    [{ unique_by: ["args.no"], unique_while: "waiting" }, "unique_by[0]", /no member "no"/],
    [{ unique_by: ["args"], unique_while: "waiting", key: "k" }, "key", /not both/],
    [{ unique_by: ["args"], unique_while: "soon" }, "unique_while", /must be one of waiting/],
    [{ debounce_secs: 1, debounce_max_secs: 2 }, "debounce_secs", /needs a job key/],
    [{ key: "k", debounce_secs: 1 }, "debounce_max_secs", /is required/],
    [{ throttle_secs: 0 }, "throttle_secs", /^must be from 1 ms to 365 days/],
    [{ key: "k", debounce_secs: 3, debounce_max_secs: 2 }, "debounce_max_secs", /at least as long/],
  ];
  for (const [fields, path, message] of refused) {
    const { status, body } = await client.post("/api/jobs", { identifier: "once", ...fields });
    assert.deepEqual([status, body.problems[0].field], [400, path]);
    assert.match(body.problems[0].message, message);
  }
});
