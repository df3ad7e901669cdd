// Tests operations over HTTP: preview, start, pause, resume and undo, at one admin and at two admins, and with the
// tables of operations missing. Also tests the event stream of operations, and the audit trail.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { test } from "node:test";
import type pg from "pg";
import type { AuditEntry } from "../../src/commands/audit/audit-entry.ts";
import { command, runner } from "../cli/command.ts";
import { testPool } from "../support/test-pool.ts";
import {
  type Client,
  createClient,
  type Json,
  migratedDatabase,
  startAdmin,
} from "./admin-harness.ts";

const { url } = await migratedDatabase("worker", ["operations"]);
const { client, pool, server } = await startAdmin({ url });

async function add(count: number, task: string, on: pg.Pool = pool): Promise<void> {
  const { rows } = await on.query(
    "insert into worker._private_tasks (identifier) values ($1) on conflict (identifier) do update set identifier = excluded.identifier returning id",
    [task],
  );
  await on.query(
    "insert into worker._private_jobs (task_id, payload) select $1, json_build_object('n', n) from generate_series(1, $2::int) as n",
    [rows[0].id, count],
  );
}

async function rehearsed(fields: object, by: Client = client): Promise<Json> {
  const answer = await by.post("/api/operations", { ...fields, dry_run: true });
  assert.equal(answer.status, 200, answer.text);
  return answer.body;
}

async function begun(fields: object, manner: object = {}, by: Client = client): Promise<Json> {
  const { rehearsal } = await rehearsed(fields, by);
  const answer = await by.post("/api/operations", { rehearsal, rate: 0, ...manner });
  assert.equal(answer.status, 202, answer.text);
  return answer.body;
}

async function until(id: number, state: string, by: Client = client): Promise<Json> {
  for (;;) {
    const { body } = await by.get(`/api/operations/${id}`);
    if (body.state === state) return body;
    assert.notEqual(body.state, "failed", body.error);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

const post = async (id: number, verb: string, by: Client = client) =>
  by.post(`/api/operations/${id}/${verb}`, {});

test("A rehearsal previews the operation and changes nothing.", async () => {
  await add(7, "shown");
  const report = await rehearsed({
    q: "task:shown",
    action: "reschedule",
    changes: { priority: 4 },
  });
  assert.equal(report.count.value, 7);
  assert.equal(report.count.precision, "exact");
  const { change_value: change, skip_locked_value: skipped, ...numbers } = report.would;
  assert.deepEqual(numbers, { change: 7, skip_locked: 0 });
  const { as_of: at, ...seven } = report.count;
  assert.deepEqual(seven, { value: 7, precision: "exact", basis: "scan" });
  assert.deepEqual([change, skipped], [report.count, { ...report.count, value: 0 }]);
  assert.ok(Date.parse(at) > 0);
  const share = { count: 7, count_value: report.count };
  assert.deepEqual(report.by_task, [{ task: "shown", ...share }]);
  assert.deepEqual(report.by_queue, [{ queue: null, ...share }]);
  assert.equal(report.sample.length, 5);
  assert.equal(report.sample[0].payload, undefined);
  assert.equal(report.cli, "worker reschedule --priority=4 task:shown");
  const { rows } = await pool.query("select from worker._private_jobs where priority <> 0");
  assert.equal(rows.length, 0);
});

test("An operation is started, ends, has a receipt, and is undone.", async () => {
  await add(30, "whole");
  const operation = await begun({ q: "task:whole", action: "complete" });
  const done = await until(operation.id, "done");
  assert.deepEqual([done.done, done.can_undo, done.resumable], [30, true, true]);
  assert.deepEqual(
    [done.expected, done.expected_value, done.matched?.value],
    [30, done.matched, 30],
  );
  assert.deepEqual([done.not_found.value, done.not_found.precision], [0, "exact"]);
  const { body: jobs } = await client.get(`/api/operations/${operation.id}/jobs?limit=20`);
  assert.equal(jobs.ids.length, 20);
  const expectedJob = { task_identifier: "whole", error_line: null };
  assert.deepEqual(jobs.jobs[19], { id: jobs.ids[19], ...expectedJob });
  const rest = await client.get(
    `/api/operations/${operation.id}/jobs?limit=20&cursor=${jobs.next_cursor}`,
  );
  assert.deepEqual([rest.body.ids.length, rest.body.next_cursor], [10, null]);
  assert.equal((await post(operation.id, "undo")).status, 202);
  const undone = await until(operation.id, "undone");
  assert.equal(undone.undone, 30);
  assert.deepEqual(undone.undo_skipped, { key_taken: 0, changed: 0, gone: 0, locked: 0 });
  const back = await client.get(`/api/operations/${operation.id}/jobs?outcome=undone&limit=1000`);
  assert.equal(back.body.ids.length, 30);
  const { body } = await client.get("/api/operations?limit=1");
  assert.deepEqual([body.operations[0].id, body.operations[0].state], [operation.id, "undone"]);
});

test("A second operation is refused while the first runs, and can start once the first is paused.", async () => {
  await add(600, "slow");
  await add(3, "quick");
  const slow = await begun({ q: "task:slow", action: "fail" }, { rate: 100 });
  const { rehearsal } = await rehearsed({ q: "task:quick", action: "complete" });
  const refused = await client.post("/api/operations", { rehearsal });
  assert.deepEqual([refused.status, refused.body.code], [409, "conflict"]);
  const began = performance.now();
  const paused = await post(slow.id, "pause");
  assert.deepEqual([paused.status, paused.body.state], [200, "paused"]);
  assert.ok(performance.now() - began < 5_000);
  const quick = await client.post("/api/operations", { rehearsal });
  assert.equal(quick.status, 202, quick.text);
  await until(quick.body.id, "done");
  const stopped = await post(slow.id, "stop");
  assert.equal(stopped.body.state, "stopped");
  const failed = async () => {
    const { rows } = await pool.query(
      "select count(*)::int as n from worker._private_jobs where attempts >= max_attempts",
    );
    return rows[0].n;
  };
  assert.equal(await failed(), stopped.body.done);
  assert.equal((await post(slow.id, "resume")).status, 409);
});

test("An invalid request is refused with the field and the reason.", async () => {
  const refusals: [object, RegExp][] = [
    [{ q: "task:t", action: "complete" }, /dry_run: is required/],
    [{ q: "task:t", action: "complete", dry_run: false }, /dry_run: must be true/],
    [{ q: " ", action: "complete", dry_run: true }, /q: is empty.*id>0/],
    [{ q: "tusk:t", action: "complete", dry_run: true }, /q: /],
    [{ q: "task:t", action: "explode", dry_run: true }, /action: must be one of complete/],
    [{ q: "task:t", action: "remove", changes: { key: "k" }, dry_run: true }, /changes\.key/],
    [
      { q: "task:t", action: "reschedule", dry_run: true },
      /changes: reschedule needs at least one of/,
    ],
    [
      { q: "task:t", action: "retry", changes: { priority: 40_000 }, dry_run: true },
      /changes\.priority/,
    ],
    [{ q: "task:t", action: "retry", changes: [], dry_run: true }, /changes: must be an object/],
    [{ q: "task:t", action: "retry", changes: { ids: [1] }, dry_run: true }, /changes\.ids/],
    [{ rehearsal: "x", rate: -1 }, /rate: must be/],
    [{ rehearsal: "x", rate: 1.5 }, /rate: must be/],
    [{ rehearsal: "x", canary: 0 }, /canary: must be/],
    [{ rehearsal: "x", q: "task:t" }, /q: unknown field/],
  ];
  for (const [body, message] of refusals) {
    const answer = await client.post("/api/operations", body);
    assert.equal(answer.status, 400, answer.text);
    assert.match(answer.body.error, message);
  }
  const proto = await client.post(
    "/api/operations",
    '{"q":"task:t","action":"retry","dry_run":true,"changes":{"__proto__":{"priority":1}}}',
  );
  assert.equal(proto.status, 400, proto.text);
  const { rehearsal } = await rehearsed({ q: "task:t", action: "fail" });
  const canary = await client.post("/api/operations", { rehearsal, canary: 3 });
  assert.match(canary.body.error, /canary: applies only to retry and run-now/);
  assert.equal((await client.post("/api/operations", { rehearsal: "gone" })).status, 404);
  assert.equal((await client.get("/api/operations/999999")).status, 404);
  assert.equal((await client.get("/api/operations/x/jobs")).status, 404);
  assert.equal((await client.get("/api/operations/1/jobs?outcome=odd")).status, 400);
  assert.equal((await client.get("/api/activity?cursor=odd")).status, 400);
});

test("An operation that was previewed at one admin can be started at another admin, but only once. The first admin shows the operation, too.", async () => {
  const second = await startAdmin({ url });
  await add(4, "shared");
  const { rehearsal } = await rehearsed({ q: "task:shared", action: "retry" });
  const answer = await second.client.post("/api/operations", { rehearsal, rate: 0 });
  assert.equal(answer.status, 202, answer.text);
  const done = await until(answer.body.id, "done");
  assert.equal(done.done, 4);
  const again = await client.post("/api/operations", { rehearsal });
  assert.equal(again.status, 404);
});

test("The operation of a stopped admin is interrupted, and can be resumed at another admin.", async () => {
  const first = await startAdmin({ url });
  await add(500, "left");
  const operation = await begun({ q: "task:left", action: "fail" }, { rate: 200 }, first.client);
  await first.server.stop();
  const { body } = await client.get(`/api/operations/${operation.id}`);
  assert.equal(body.state, "interrupted");
  assert.ok(body.done < 500);
  assert.equal((await post(operation.id, "resume")).status, 202);
  await post(operation.id, "stop");
});

test("An operation whose admin is killed, and which is then resumed, changes each job exactly once.", async () => {
  await add(3_000, "killed");
  await pool.query("create table worker.touched (id bigint)");
  await pool.query(`create function worker.note() returns trigger language plpgsql as
    'begin insert into worker.touched (id) values (new.id); return new; end'`);
  await pool.query(`create trigger note after update on worker._private_jobs
    for each row execute function worker.note()`);
  const { PATH = "", HOME = "" } = process.env;
  const args = ["admin", "--auth", "none", "--listen", "127.0.0.1:0", "--json"];
  const child = spawn(runner, [...command, ...args], {
    env: { PATH, HOME, DATABASE_URL: url },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [line] = await once(createInterface(child.stdout), "line");
  const killed = createClient(Number(new URL(JSON.parse(line).url).port));
  const q = "task:killed";
  const operation = await begun({ q, action: "fail" }, { rate: 1_000 }, killed);
  for (;;) {
    const { body } = await killed.get(`/api/operations/${operation.id}`);
    if (body.done > 0) break;
  }
  child.kill("SIGKILL");
  await once(child, "exit");
  // The operation counts as interrupted only once its lease has expired.
  await pool.query(
    "update worker._private_operations set lease_until = clock_timestamp() where lease_until is not null",
  );
  const { body } = await client.get(`/api/operations/${operation.id}`);
  assert.equal(body.state, "interrupted");
  assert.ok(body.done > 0 && body.done < 3_000, String(body.done));
  assert.equal((await post(operation.id, "resume")).status, 202);
  const done = await until(operation.id, "done");
  assert.equal(done.done, 3_000);
  const { rows } = await pool.query(
    "select count(*)::int as touches, count(distinct id)::int as jobs from worker.touched",
  );
  assert.deepEqual(rows, [{ touches: 3_000, jobs: 3_000 }]);
  await pool.query("drop trigger note on worker._private_jobs");
});

test("Every write has an audit entry that names the user. If the write changes jobs by id, the entry also has the state of these jobs before and after the write.", async () => {
  const entries: AuditEntry[] = [];
  const trailed = await startAdmin({
    url,
    mode: "basic",
    onAudit: (entry) => void entries.push(entry),
  });
  const { rightCredentials } = await import("./admin-harness.ts");
  const headers = rightCredentials.basic;
  const session = await trailed.client.send("GET", "/api/session", { headers });
  const csrf = { "x-worker-admin-csrf": session.body.csrf_token };
  const send = (path: string, body: object) =>
    trailed.client.send("POST", path, {
      headers: { ...headers, ...csrf, "content-type": "application/json" },
      body: JSON.stringify(body),
    });
  const payload = { password: "hunter2" };
  const added = await send("/api/jobs", { identifier: "trail", payload });
  const { id } = added.body.jobs[0];
  const acted = await send("/api/jobs/action", { action: "reschedule", ids: [id], priority: 6 });
  const request = acted.headers["x-request-id"];
  const { rehearsal } = (
    await send("/api/operations", { q: "task:trail", action: "complete", dry_run: true })
  ).body;
  const operation = (await send("/api/operations", { rehearsal, rate: 0 })).body;
  await until(operation.id, "done");
  const { body, text } = await client.get("/api/activity?limit=3");
  assert.doesNotMatch(text, /hunter2/);
  const [began, changed, first] = body.entries;
  assert.deepEqual(
    [began.action, began.q, began.operation_id, began.done, began.can_undo, began.by],
    ["complete", "task:trail", operation.id, 1, true, "operator"],
  );
  assert.equal(began.cli, "worker complete --rate=0 task:trail");
  assert.deepEqual(
    [changed.action, changed.ids, changed.by, changed.client, changed.request, changed.done],
    ["reschedule", [id], "operator", "127.0.0.1", request, 1],
  );
  assert.equal(changed.ids_count, 1);
  assert.deepEqual([changed.before[0].priority, changed.after[0].priority], [0, 6]);
  const names = ["attempts", "id", "max_attempts", "priority", "run_at", "state"];
  assert.deepEqual(Object.keys(changed.before[0]).sort(), names);
  assert.deepEqual(changed.changes, { priority: 6 });
  assert.deepEqual([first.action, first.ids], ["add", [id]]);
  assert.deepEqual(
    entries.map(({ action, by }) => [action, by]),
    [
      ["add", "operator"],
      ["reschedule", "operator"],
      ["complete", "operator"],
    ],
  );
  const next = await client.get(`/api/activity?limit=1&cursor=${body.next_cursor}`);
  assert.ok(next.body.entries[0].id < first.id);
});

test("If the tables of operations are missing, an operation can be previewed, but not started until the tables are added.", async () => {
  const bare = await startAdmin();
  await add(3, "bare", bare.pool);
  const list = await bare.client.get("/api/operations");
  assert.deepEqual(list.body, { operations: [], next_cursor: null, resumable: false });
  const rehearsing = { q: "task:bare", action: "retry" };
  const report = await rehearsed(rehearsing, bare.client);
  assert.deepEqual([report.count.value, report.can_undo, report.undo_bytes], [3, false, 0]);
  const { sentence, ...missing } = report.missing;
  const command = "worker migrate --with-operations";
  assert.deepEqual(missing, { extension: "operations", may_add: true, command });
  const start = { rehearsal: report.rehearsal };
  const refused = await bare.client.post("/api/operations", start);
  assert.deepEqual([refused.status, refused.body.code], [409, "extension_missing"]);
  assert.equal(refused.body.error, sentence);
  const undone = await post(1, "undo", bare.client);
  assert.deepEqual([undone.status, undone.body.code], [404, "not_found"]);
  await bare.client.post("/api/extensions", { action: "add", name: "operations" });
  assert.equal((await rehearsed(rehearsing, bare.client)).missing, null);
  // Without the tables the first rehearsal could not be stored, so a new one is needed.
  assert.equal((await bare.client.post("/api/operations", start)).status, 404);
  const operation = await begun(rehearsing, {}, bare.client);
  const done = await until(operation.id, "done", bare.client);
  assert.deepEqual([done.done, done.can_undo], [3, true]);
});

test("If the admin's database role may not add the tables, the preview has the command that the schema's owner can run.", async () => {
  const { url } = await migratedDatabase("some jobs");
  const owner = testPool(url);
  const role = `operator_${process.pid}`;
  await owner.pool.query(
    `create role ${role} login bypassrls in role pg_read_all_data, pg_write_all_data`,
  );
  const own = new URL(url);
  own.searchParams.set("user", role);
  const limited = await startAdmin({ url: own.href, schema: "some jobs" });
  const { missing } = await rehearsed({ q: "task:t", action: "retry" }, limited.client);
  const command = "worker migrate --schema='some jobs' --with-operations";
  assert.deepEqual([missing.may_add, missing.command], [false, command]);
  assert.match(missing.sentence, /adds them when \w+, the owner of the schema, runs it$/);
  // The owner of the schema adds the tables, and the role loses the privilege to write to them.
  const { client } = await startAdmin({ url, schema: "some jobs" });
  await client.post("/api/extensions", { action: "add", name: "operations" });
  await owner.pool.query(`revoke pg_write_all_data from ${role}`);
  const after = await rehearsed({ q: "task:t", action: "retry" }, limited.client);
  assert.deepEqual([after.missing.may_add, after.missing.command], [false, null]);
  assert.match(
    after.missing.sentence,
    new RegExp(`the role ${role} has no privileges on the tables`),
  );
  await owner.pool.query(`grant all on all tables in schema "some jobs" to ${role}`);
  assert.equal((await rehearsed({ q: "task:t", action: "retry" }, limited.client)).missing, null);
  await owner.close();
});

test("The event stream reports the progress and the end of an operation.", async () => {
  await add(900, "watched");
  const states: string[] = [];
  const response = await fetch(new URL("api/events?events=operation", server.url));
  const reader = (response.body ?? assert.fail()).pipeThrough(new TextDecoderStream()).getReader();
  const operation = await begun({ q: "task:watched", action: "fail" }, { rate: 1_000 });
  let text = "";
  while (states.at(-1) !== "done") {
    const { value, done } = await reader.read();
    assert.equal(done, false);
    text += value;
    for (const [, data = ""] of text.matchAll(/^event: operation\n(?:id: .*\n)?data: (.*)\n\n/gm)) {
      const event = JSON.parse(data);
      if (event?.id === operation.id && event.state !== states.at(-1)) states.push(event.state);
    }
  }
  await reader.cancel();
  assert.deepEqual(states, ["running", "done"]);
});
