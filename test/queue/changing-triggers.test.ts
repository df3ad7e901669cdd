// Tests adds while the application has a trigger on the table of jobs that changes or deletes each added job, or raises
// an error.
import assert from "node:assert/strict";
import { afterEach, test } from "node:test";
import type { QueryConfig } from "pg";
import { addJob } from "../../src/queue/add/add-job.ts";
import { addJobs } from "../../src/queue/add/add-jobs.ts";
import { makeWorkerUtils } from "../../src/utils/worker-utils.ts";
import { testQueue } from "./queue-database.ts";

const queue = testQueue();

afterEach(() => queue.sql("drop function if exists public.change cascade"));

const trigger = (body: string) =>
  queue.sql(`create function public.change() returns trigger language plpgsql as
    $$ begin ${body} return new; end $$;
    create trigger change before insert on worker._private_jobs
    for each row execute function public.change()`);

test("An add returns the job as a trigger has changed it, with or without a key, for one job and for a batch.", async () => {
  await trigger(`new.priority := 7; new.max_attempts := 3; new.run_at := '2040-01-01T00:00:00Z';
    new.payload := '{"changed": true}'; new.flags := '{"big": true}';`);
  const job = { identifier: "task", payload: { n: 1 } };
  const utils = await makeWorkerUtils({ pool: queue.pool });
  const added = [
    await addJob(queue.db, job),
    await addJob(queue.db, { ...job, spec: { jobKey: "k" } }),
    await utils.addJob("task", { n: 1 }),
    ...(await addJobs(queue.db, [job, { ...job, spec: { queueName: "q", priority: 2 } }])),
  ];
  for (const one of added) {
    const { priority, maxAttempts, runAtText, payloadText, flagsText, state } = one;
    assert.deepEqual(
      { priority, maxAttempts, runAtText, payloadText, flagsText, state },
      {
        priority: 7,
        maxAttempts: 3,
        runAtText: "2040-01-01T00:00:00.000Z",
        payloadText: '{"changed": true}',
        flagsText: '{"big": true}',
        state: "scheduled",
      },
    );
  }
  assert.equal(added.at(-1)?.queueName, "q");
  await utils.end();
});

test("If a trigger deletes an added job at once, the add returns the job as the caller gave it.", async () => {
  await trigger("");
  await queue.sql(`create trigger change_after after insert on worker._private_jobs
    for each row execute function public.change()`);
  await queue.sql(`create or replace function public.change() returns trigger language plpgsql as
    $$ begin if tg_when = 'AFTER' then delete from worker._private_jobs where id = new.id; end if;
    return new; end $$`);
  const { payloadText, priority } = await addJob(queue.db, { identifier: "task", payload: 1 });
  assert.deepEqual([payloadText, priority], ["1", 0]);
});

test("On the caller's client, an add fails if its job cannot be read back, because the caller's transaction may be aborted.", async () => {
  await trigger("");
  const utils = await makeWorkerUtils({ pool: queue.pool });
  const client = await queue.pool.connect();
  const query = (sent: { readonly text: string }) =>
    // This statement replaces the read of the stored job. It fails, and so aborts the transaction, as a timeout would.
    client.query(/ where jobs\.id = any/.test(sent.text) ? { text: "select 1 / 0" } : sent);
  try {
    await client.query("begin");
    await assert.rejects(utils.with({ query } as never).addJob("task"), /division by zero/);
  } finally {
    await client.query("rollback");
    client.release();
    await utils.end();
  }
});

test("Outside a transaction, a job that cannot be read back is committed, and the add returns it as the caller gave it.", async () => {
  await trigger("new.priority := 7;");
  const client = await queue.pool.connect();
  const query = (sent: QueryConfig) =>
    client.query(/ where jobs\.id = any/.test(sent.text) ? { text: "select 1 / 0" } : sent);
  const getTransactionStatus = () => client.getTransactionStatus();
  try {
    const db = { ...queue.db, client: { query, getTransactionStatus } };
    const { priority, id } = await addJob(db, { identifier: "task" });
    const stored = await queue.sql("select id::text, priority from worker._private_jobs");
    assert.deepEqual([priority, stored], [0, [{ id, priority: 7 }]]);
  } finally {
    client.release();
  }
});

const unassigned = 'record "r" is not assigned yet';

for (const [what, body, detail] of [
  ["record is not assigned", "declare r record; begin new.priority := r.x; end;", unassigned],
  ["foreign server is lost", "raise 'no' using errcode = 'connection_failure';", "no"],
  ["value is too large", "raise 'no' using errcode = 'program_limit_exceeded';", "no"],
  ["privilege is missing", "raise 'no' using errcode = 'insufficient_privilege';", "no"],
] as const) {
  test(`If a trigger fails because a ${what}, the add fails with database_error and the trigger's message.`, async () => {
    await trigger(body);
    for (const spec of [{}, { jobKey: "k" }]) {
      await assert.rejects(addJob(queue.db, { identifier: "task", spec }), (error: Error) => {
        assert.equal((error as { code?: string }).code, "database_error");
        assert.ok(error.message.startsWith(`PostgreSQL: ${detail} (PL/pgSQL `), error.message);
        return true;
      });
    }
  });
}

for (const [what, body, detail] of [
  ["table", "insert into public.gone values (1);", 'relation "public.gone" does not exist'],
  ["column", "new.gone := 1;", 'record "new" has no field "gone"'],
  ["function", "perform public.gone();", "function public.gone() does not exist"],
] as const) {
  test(`If a trigger uses a missing ${what}, the error is the trigger's, not that of a missing schema.`, async () => {
    await trigger(body);
    for (const spec of [{}, { jobKey: "k" }]) {
      await assert.rejects(addJob(queue.db, { identifier: "task", spec }), (error: Error) => {
        assert.equal((error as { code?: string }).code, "database_error");
        assert.ok(error.message.startsWith(`PostgreSQL: ${detail} (PL/pgSQL `));
        return true;
      });
    }
  });
}
