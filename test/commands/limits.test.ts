// Tests concurrent changes of limits, the records of changes, the default burst, the end of back-offs, and the largest
// number of limits.
import assert from "node:assert/strict";
import { test } from "node:test";
import pg from "pg";
import { silentLogger } from "../../src/base/logger.ts";
import { commands } from "../../src/commands/index.ts";
import { removeLimit, setLimit } from "../../src/commands/limits/set-limit.ts";
import { type CommandRecord, perform } from "../../src/commands/perform.ts";
import type { Queryable } from "../../src/database/database.ts";
import { schemaName } from "../../src/database/schema-name.ts";
import { readLimits } from "../../src/queue/limits/limits.ts";
import { migratedDatabase } from "../support/database.ts";
import { lockWaits } from "../support/lock-waits.ts";
import { waitUntil } from "../support/until.ts";

const { url } = await migratedDatabase("worker", ["limits"]);
const pool = new pg.Pool({ connectionString: url });
test.after(() => pool.end());
const db = { client: pool, schema: schemaName() };
const records: CommandRecord[] = [];

async function performed(name: string, input: Record<string, unknown>) {
  const command = commands.find((one) => one.name === name);
  assert.ok(command !== undefined);
  return perform(command, db, input, {
    ...{ pool, logger: silentLogger, signal: new AbortController().signal },
    recordFor: { by: "ana", source: "admin" },
    record: (record) => void records.push(record),
  });
}

test("Concurrent changes of different parts of a limit are all kept, even if the limit does not exist when the changes begin.", async () => {
  for (let round = 0; round < 10; round++) {
    const name = `limit-${round}`;
    await Promise.all([
      performed("limit-set", { name, task: "t", concurrency: 7 }),
      performed("limit-set", { name, task: "t", rate: "5/s" }),
    ]);
    await Promise.all([
      performed("limit-set", { name, burst: 9 }),
      performed("limit-set", { name, concurrency: 8 }),
    ]);
  }
  const limits = await readLimits(db);
  assert.equal(limits.length, 10);
  for (const { definition, setBy, revision } of limits) {
    const { concurrency, rate } = definition;
    assert.deepEqual([concurrency, rate], [8, { limit: 5, perMs: 1_000, burst: 9 }]);
    assert.deepEqual([setBy, revision], ["ana", 4]);
  }
});

test("If two sessions add equal limits at once, the second add changes nothing. If the limits have the same name but different scopes, the second add is a conflict.", async () => {
  const client = await pool.connect();
  const set = (on: Queryable, scope: "task" | "queue" = "task") => {
    const definition = { name: "twice", scope, match: "t", concurrency: 1, rate: null };
    return setLimit({ ...db, client: on }, { definition, setBy: null });
  };
  await client.query("begin");
  assert.equal(await set(client), true);
  const [equal, other] = [set(pool), assert.rejects(set(pool, "queue"), { code: "conflict" })];
  await waitUntil("both later adds wait for a lock", async () => (await lockWaits(pool)) === 2);
  await client.query("commit");
  client.release();
  assert.equal(await equal, false);
  await other;
  await removeLimit(db, "twice");
});

test("A change of a limit is recorded with the given fields and with a sentence about the result.", async () => {
  records.length = 0;
  await performed("limit-set", { name: "limit-0", rate: "10/min" });
  await performed("limit-remove", { name: "limit-0" });
  assert.deepEqual(
    records.map(({ command, changes, message }) => ({ command, changes, message })),
    [
      {
        command: "limit-set",
        changes: { name: "limit-0", rate: "10/min" },
        message:
          "Changed the limit limit-0: at most 8 jobs of task t at once, 10 in a minute and 9 more at once after a quiet time; no task has this name yet",
      },
      {
        command: "limit-remove",
        changes: { name: "limit-0" },
        message: "Removed the limit limit-0",
      },
    ],
  );
});

test("The default burst changes with the rate, a burst that was set does not, and burst 0 restores the default.", async () => {
  const burstOf = async (name: string) =>
    (await readLimits(db)).find(({ definition }) => definition.name === name)?.definition.rate
      ?.burst;
  await performed("limit-set", { name: "usual", task: "t", rate: "100/s" });
  assert.equal(await burstOf("usual"), 20);
  await performed("limit-set", { name: "usual", rate: "10/s" });
  assert.equal(await burstOf("usual"), 2);
  await performed("limit-set", { name: "usual", burst: 50 });
  await performed("limit-set", { name: "usual", rate: "1/h" });
  assert.equal(await burstOf("usual"), 50);
  await performed("limit-set", { name: "usual", rate: "40/s", burst: 0 });
  assert.equal(await burstOf("usual"), 8);
  await performed("limit-set", { name: "usual", burst: 50 });
  await performed("limit-set", { name: "usual", burst: 0 });
  assert.equal(await burstOf("usual"), 8);
});

test("The back-offs of all queues of a limit are ended, however many queues the limit has.", async () => {
  await performed("limit-set", { name: "tenants", queue: "tenant/*", concurrency: 1 });
  await pool.query(`
    with queues as (
      insert into worker._private_job_queues (queue_name, locked_at, locked_by)
      select name || n, 'infinity', 'paused:429'
      from generate_series(1, 1200) as n, unnest(array['tenant/', 'other/']) as name
      returning queue_name
    ), pauses as (
      insert into worker._private_pauses (scope, name, resume_at)
      select 'queue', queue_name, '2100-01-01' from queues
    )
    insert into worker._private_back_offs (scope, name, until)
    select 'queue', queue_name, '2100-01-01' from queues`);
  await pool.query(`update worker._private_pauses set resume_at = '2101-01-01', reason = 'by hand'
    where name = 'tenant/7'`);
  const { message } = await performed("limit-end-back-off", { name: "tenants" });
  assert.equal(message, "Ended 1,200 back-offs");
  const left = async (table: string, name: string) => {
    const { rows } = await pool.query<{ name: string }>(
      `select ${name} as name from worker.${table} and ${name} like 'tenant/%'`,
    );
    return rows.map((row) => row.name);
  };
  assert.deepEqual(await left("_private_pauses where true", "name"), ["tenant/7"]);
  assert.deepEqual(await left("_private_back_offs where until > now()", "name"), []);
  const paused = "_private_job_queues where locked_by like 'paused:%'";
  assert.deepEqual(await left(paused, "queue_name"), ["tenant/7"]);
  const { rows } = await pool.query("select from worker._private_pauses where name like 'other/%'");
  assert.equal(rows.length, 1_200);
  await performed("limit-remove", { name: "tenants" });
});

test("If there are 1,000 limits, no further limit can be added, but existing limits can still be changed.", async () => {
  await pool.query(`insert into worker._private_limits (name, scope, match, concurrency)
    select 'many-' || n, 'task', 't', 1 from generate_series(1, 1000) as n limit 990`);
  const refused = performed("limit-set", { name: "one more", task: "t", concurrency: 1 });
  await assert.rejects(refused, { code: "conflict", message: /there are 1000 limits/ });
  await performed("limit-set", { name: "many-1", concurrency: 2 });
  assert.equal((await readLimits(db)).length, 1_000);
});

test("A new limit is recorded even if the list of workers without heartbeats cannot be read.", async (t) => {
  await pool.query("delete from worker._private_limits");
  const rename = (from: string, to: string) =>
    pool.query(`alter table worker._private_workers rename ${from} to ${to}`);
  t.after(() => rename("away", "last_heartbeat_at"));
  await rename("last_heartbeat_at", "away");
  records.length = 0;
  const { message } = await performed("limit-set", { name: "noted", task: "t", concurrency: 7 });
  assert.match(message, /^Set the limit .*; workers without heartbeats could not be read: /);
  assert.deepEqual(
    records.map((record) => record.message),
    [message],
  );
});

test("If only the first 1,000 of 1,500 back-offs can be ended, the record contains the number 1,000.", async (t) => {
  records.length = 0;
  await performed("limit-set", { name: "tenants", queue: "late-*", concurrency: 1 });
  await pool.query(`insert into worker._private_back_offs (scope, name, until)
    select 'queue', 'late-' || lpad(n::text, 4, '0'), now() + interval '1 hour'
    from generate_series(1, 1500) as n`);
  t.after(() => pool.query("drop function public.refuse_end() cascade"));
  await pool.query(`create function public.refuse_end() returns trigger language plpgsql as
    $$ begin raise 'refused by the test'; end $$`);
  await pool.query(`create trigger refuse_end before update on worker._private_back_offs
    for each row when (new.name = 'late-1200') execute function public.refuse_end()`);
  records.length = 0;
  const { message, isPartial } = await performed("limit-end-back-off", { name: "tenants" });
  assert.match(message, /^Ended 1,000 back-offs; not everything was done: .*refused by the test/);
  assert.equal(isPartial, true);
  assert.deepEqual(
    records.map((record) => record.message),
    [message],
  );
});
