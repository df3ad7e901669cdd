// With the extension `operations`, one transaction writes the changes of an action over HTTP, the state of the jobs
// before the action, and the action's entry in the audit trail.
import assert from "node:assert/strict";
import { test } from "node:test";
import { migratedDatabase, startAdmin } from "./admin-harness.ts";

const { url } = await migratedDatabase("worker", ["operations"]);
const { client, pool } = await startAdmin({ url });

async function add(): Promise<string> {
  const { body } = await client.post("/api/jobs", { identifier: "one" });
  return String(body.jobs[0].id);
}

async function valuesOf(text: string, values: unknown[] = []): Promise<unknown[]> {
  const { rows } = await pool.query({ text, values, rowMode: "array" });
  return rows.map(([value]) => value);
}

const fail = (...ids: string[]) =>
  client.post("/api/jobs/action", { action: "fail", ids: ids.map(Number) });

/** Runs `work` while a trigger runs `body` before each new entry of the audit trail. */
async function withTrigger(body: string, work: () => Promise<void>): Promise<void> {
  await pool.query(`
    create sequence worker.lines;
    create function worker.on_line() returns trigger language plpgsql as $$ begin ${body} return new; end $$;
    create trigger on_line before insert on worker._private_audit for each row execute function worker.on_line()`);
  await work();
  await pool.query("drop function worker.on_line() cascade; drop sequence worker.lines");
}

test("The job, its state before the action, the operation and the audit entry are written by one transaction.", async () => {
  const id = await add();
  const { body } = await fail(id);
  const { operation } = body;
  const ids = await valuesOf(
    `select xmin::text from worker._private_jobs where id = $1
    union all select xmin::text from worker._private_operations where id = $2
    union all select xmin::text from worker._private_operation_rows where operation_id = $2
    union all select xmin::text from worker._private_audit where operation_id = $2`,
    [id, operation],
  );
  assert.equal(ids.length, 4);
  assert.equal(new Set(ids).size, 1);
});

test("An action whose audit entry cannot be written is an error and changes nothing.", async () => {
  const id = await add();
  await withTrigger("raise exception 'no line';", async () => {
    const { status, body } = await fail(id);
    assert.deepEqual([status, body.code], [500, "database_error"]);
  });
  assert.deepEqual(
    await valuesOf("select attempts from worker._private_jobs where id = $1", [id]),
    [0],
  );
  const rows = "select operation_id from worker._private_operation_rows where job_id = $1";
  assert.deepEqual(await valuesOf(rows, [id]), []);
});

test("An action that fails with a deadlock is repeated as a whole, and has one audit entry.", async () => {
  const id = await add();
  const collide = "if nextval('worker.lines') < 3 then raise sqlstate '40P01'; end if;";
  await withTrigger(collide, async () => assert.equal((await fail(id)).status, 200));
  const rows = "select operation_id from worker._private_operation_rows where job_id = $1";
  assert.equal((await valuesOf(rows, [id])).length, 1);
  const { body } = await client.get("/api/activity?limit=2");
  const [first, second] = body.entries;
  assert.deepEqual(first.ids, [Number(id)]);
  assert.equal(second.action, "add");
});

test("A job whose row another transaction has locked is skipped; the other job and the audit entry are written.", async () => {
  const [locked, free] = [await add(), await add()];
  const other = await pool.connect();
  await other.query("begin");
  await other.query("select from worker._private_jobs where id = $1 for update", [locked]);
  const { status, body } = await fail(locked, free);
  await other.query("rollback");
  other.release();
  assert.deepEqual([status, body.requested, body.done], [200, 2, 1]);
  const { body: activity } = await client.get("/api/activity?limit=1");
  assert.deepEqual([activity.entries[0].requested, activity.entries[0].done], [2, 1]);
});
