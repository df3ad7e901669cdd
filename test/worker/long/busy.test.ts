// Tests workers while PostgreSQL refuses or delays some of their changes, because of locked rows or triggers.
import assert from "node:assert/strict";
import { describe, type TestContext, test } from "node:test";
import pg from "pg";
import { latch, recorder, recordingTask, waitUntil, workerQueue } from "../worker-queue.ts";

const queue = workerQueue();

const STATES = ["lock_not_available", "serialization_failure", "deadlock_detected"];

/**
 * Makes PostgreSQL refuse every update or delete of this job with the error `state`. Returns a function that reads the
 * number of refusals. The number is 1 before the first refusal, too.
 */
async function refuse(when: "update" | "delete", id: string, state = "lock_not_available") {
  await queue.sql(`create sequence public.refusals;
    create function public.refuse() returns trigger language plpgsql as $$ begin
      if old.id = ${id} then
        perform nextval('public.refusals');
        raise 'it is locked' using errcode = '${state}';
      end if;
      return coalesce(new, old);
    end $$;
    create trigger refuse before ${when} on worker._private_jobs
    for each row execute function public.refuse()`);
  return async () =>
    (await queue.sql<{ n: number }>("select last_value::int as n from public.refusals"))[0]?.n ?? 0;
}

const end = () =>
  queue.sql("drop function if exists public.refuse cascade; drop sequence public.refusals");

describe("A result that cannot be written now is sent again, twice a second for each connection,", () => {
  test("and other jobs run.", async (t) => {
    const { id } = await queue.utils.addJob("task");
    const refusals = await refuse("delete", id);
    t.after(end);
    const task = recordingTask("task");
    await queue.startWorker({ tasks: [task], connections: 2 });
    await waitUntil("the result is refused twice", async () => (await refusals()) > 1);
    const before = await refusals();
    const startMs = performance.now();
    for (let n = 2; performance.now() - startMs < 2_000; n++) {
      await queue.utils.addJob("task");
      await waitUntil("another job has run", () => task.seen.length === n);
    }
    const more = (await refusals()) - before;
    assert.ok(more >= 1, "the result is sent again");
    assert.ok(more <= 16, `the result is sent again ${more} times in two seconds`);
    await queue.sql("drop trigger refuse on worker._private_jobs");
    await waitUntil("all results are written", async () => (await queue.remaining()).length === 0);
  });
});

const added = (count: number, spec: (n: number) => object = () => ({})) =>
  queue.utils.addJobs(
    Array.from({ length: count }, (_, n) => ({ identifier: "task", payload: n, spec: spec(n) })),
  );

for (const state of STATES) {
  test(`A job that cannot be locked because of ${state} does not delay other jobs.`, async (t) => {
    const jobs = await added(10, (n) => (n % 3 === 1 ? { queueName: `q${n}` } : {}));
    await refuse("update", jobs[2]?.id ?? "", state);
    t.after(end);
    const task = recordingTask<number>("task");
    const { lines, logger } = recorder();
    await queue.startWorker({ tasks: [task], logger, pollIntervalMs: 50, concurrency: 3 });
    await waitUntil("all other jobs are done", async () => (await queue.remaining()).length === 1);
    await queue.utils.addJob("task", 100);
    await waitUntil("a later job has run", () => task.seen.includes(100));
    assert.ok(!task.seen.includes(2));
    assert.ok(lines.some(({ message }) => /cannot be locked now/.test(message)));
    if (state !== STATES[0]) return;
    await queue.sql("drop trigger refuse on worker._private_jobs");
    await waitUntil(
      "the job that could not be locked is done",
      async () => (await queue.remaining()).length === 0,
    );
    assert.equal(task.seen.length, 11);
  });

  test(`A result that cannot be written because of ${state} does not delay other jobs.`, async (t) => {
    const gate = latch();
    const task = recordingTask<number>("task", () => gate.opened);
    const jobs = await added(10, (n) => (n % 3 === 1 ? { queueName: `q${n}` } : {}));
    await refuse("delete", jobs[2]?.id ?? "", state);
    t.after(end);
    await queue.startWorker({ tasks: [task], pollIntervalMs: 50, concurrency: 10 });
    await waitUntil("all jobs run", () => task.seen.length === 10);
    gate.open();
    await waitUntil("all other jobs are done", async () => (await queue.remaining()).length === 1);
    await added(3, () => ({ queueName: "q1" }));
    await waitUntil("the later jobs are done", async () => (await queue.remaining()).length === 1);
    const [left] = await queue.remaining();
    assert.notEqual(left?.locked_by, null);
    await queue.sql("drop trigger refuse on worker._private_jobs");
    await waitUntil("all jobs are done", async () => (await queue.remaining()).length === 0);
    assert.equal(task.seen.length, 13);
  });
}

test("Fetched jobs start while results are written one by one, even if one of these writes waits for a lock.", async (t) => {
  const gate = latch();
  const other = new pg.Client({ connectionString: queue.url });
  await other.connect();
  t.after(() => other.end());
  await other.query("select pg_advisory_lock(1)");
  const task = recordingTask<number>("task", async (n) => {
    if (n === 2) return void (await other.query("select pg_advisory_unlock(1)"));
    await gate.opened;
    throw new Error("failed");
  });
  const [first] = await added(3, () => ({ maxAttempts: 1 }));
  await queue.sql(`create sequence public.refusals;
    create function public.refuse() returns trigger language plpgsql as $$ begin
      if old.id = ${first?.id} and new.last_error is not null then
        if nextval('public.refusals') = 1 then
          raise 'it is locked' using errcode = 'lock_not_available';
        end if;
        perform pg_advisory_xact_lock(1);
      end if;
      return new;
    end $$;
    create trigger refuse before update on worker._private_jobs
    for each row execute function public.refuse()`);
  t.after(end);
  await queue.startWorker({ tasks: [task], concurrency: 2, connections: 1 });
  await waitUntil("two jobs run", () => task.seen.length === 2);
  gate.open();
  await waitUntil("the third job is done", async () => (await queue.remaining()).length === 2);
  await waitUntil("both failures are written", async () => {
    return (await queue.remaining()).every(({ last_error }) => last_error !== null);
  });
  const [{ n } = {}] = await queue.sql<{ n: string }>(
    "select last_value as n from public.refusals",
  );
  assert.equal(n, "2", "the first result is sent twice: one refusal, then one wait for the lock");
});

test("A worker that loses its connections while a result cannot be written runs other jobs, and sends the result again.", async (t) => {
  const gate = latch();
  const task = recordingTask<number>("task", (n) => (n === 1 ? gate.opened : undefined));
  const { id } = await queue.utils.addJob("task", 1);
  await queue.startWorker({ tasks: [task], pollIntervalMs: 50, concurrency: 3 });
  await waitUntil("the first job runs", () => task.seen.length === 1);
  const refusals = await refuse("delete", id);
  t.after(end);
  gate.open();
  await waitUntil(
    "the result of the first job is refused twice",
    async () => (await refusals()) > 1,
  );
  await queue.sql(`select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid() and application_name like 'worker%'`);
  await queue.utils.addJob("task", 2);
  await waitUntil("another job has run", () => task.seen.includes(2));
  const before = await refusals();
  await waitUntil("the result is sent again", async () => (await refusals()) > before);
  await queue.sql("drop trigger refuse on worker._private_jobs");
  await waitUntil("all results are written", async () => (await queue.remaining()).length === 0);
  assert.equal(task.seen.length, 2);
});

test("A queue stays locked until its unstarted jobs are unlocked, even if one of them cannot be unlocked at first.", async (t) => {
  const gate = latch();
  const task = recordingTask<number>("task", (n, call) =>
    call > 10 && n === 1 ? gate.opened : undefined,
  );
  await queue.startWorker({ tasks: [task], pollIntervalMs: 50 });
  // The worker fetches several jobs of a queue at once only if earlier jobs of the task were fast.
  await added(10, (n) => ({ queueName: "fast", priority: n }));
  await waitUntil("ten jobs have run", () => task.seen.length === 10);
  const jobs = await added(4, () => ({ queueName: "q" }));
  const lockedBy = async (n: number) =>
    (await queue.remaining()).find(({ id }) => id === jobs[n]?.id)?.locked_by;
  await waitUntil("one fetch has locked all four jobs", async () => (await lockedBy(3)) !== null);
  const refusals = await refuse("update", jobs[2]?.id ?? "");
  t.after(end);
  await waitUntil("the last job is unlocked", async () => (await lockedBy(3)) === null);
  gate.open();
  await waitUntil("the second job is done", async () => (await lockedBy(1)) === undefined);
  const before = await refusals();
  await waitUntil(
    "the worker tries again to unlock the third job",
    async () => (await refusals()) > before + 4,
  );
  assert.deepEqual(task.seen.slice(10), [0, 1]);
  await queue.sql("drop trigger refuse on worker._private_jobs");
  await waitUntil("all jobs are done", async () => (await queue.remaining()).length === 0);
  assert.deepEqual(task.seen.slice(10), [0, 1, 2, 3]);
});

test("A queue stays locked until its unstarted jobs are unlocked, also after the worker has lost its connections.", async (t) => {
  const gate = latch();
  const task = recordingTask<number>("task", (n, call) =>
    call > 10 && n === 1 ? gate.opened : undefined,
  );
  await queue.startWorker({ tasks: [task], pollIntervalMs: 50 });
  await added(10, (n) => ({ queueName: "fast", priority: n }));
  await waitUntil("ten jobs have run", () => task.seen.length === 10);
  const jobs = await added(4, () => ({ queueName: "q" }));
  const lockedBy = async (n: number) =>
    (await queue.remaining()).find(({ id }) => id === jobs[n]?.id)?.locked_by;
  await waitUntil("one fetch has locked all four jobs", async () => (await lockedBy(3)) !== null);
  const refusals = await refuse("update", jobs[2]?.id ?? "");
  t.after(end);
  await waitUntil("the last job is unlocked", async () => (await lockedBy(3)) === null);
  gate.open();
  await waitUntil("the second job is done", async () => (await lockedBy(1)) === undefined);
  await queue.sql(`select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid() and application_name like 'worker%'`);
  const before = await refusals();
  await waitUntil(
    "the worker tries again to unlock the third job",
    async () => (await refusals()) > before + 4,
  );
  assert.deepEqual(task.seen.slice(10), [0, 1]);
  await queue.sql("drop trigger refuse on worker._private_jobs");
  await waitUntil("all jobs are done", async () => (await queue.remaining()).length === 0);
  assert.deepEqual(task.seen.slice(10), [0, 1, 2, 3]);
});

test("A worker reports a job that PostgreSQL refuses to lock, but no job whose row is locked at the moment.", async (t) => {
  const [busy, refused] = await added(2);
  t.after(() => queue.sql("drop function if exists public.refuse_two cascade"));
  await queue.sql(`create function public.refuse_two() returns trigger language plpgsql as $$ begin
      if old.id = ${busy?.id} then raise 'it is locked' using errcode = 'lock_not_available'; end if;
      if old.id = ${refused?.id} then raise 'not this job'; end if;
      return new;
    end $$;
    create trigger refuse_two before update on worker._private_jobs
    for each row execute function public.refuse_two()`);
  const { lines, logger } = recorder();
  const recovery = { heartbeatIntervalMs: 200, thresholdMs: 60_000 };
  await queue.startWorker({ tasks: [recordingTask("task")], logger, pollIntervalMs: 50, recovery });
  await waitUntil("the log reports both jobs that cannot be locked", () => {
    return (
      lines.filter(({ message }) => /cannot be locked now|refuses to lock/.test(message)).length ===
      2
    );
  });
  const reported = async () => {
    const [row] = await queue.sql<{ ids: string[] | null }>(
      `select array(select one ->> 'id' from jsonb_array_elements(metadata -> 'unsettled') as one) as ids
       from worker._private_workers where metadata ? 'unsettled'`,
    );
    return row?.ids ?? [];
  };
  await waitUntil(
    "the worker's row lists a job that cannot be locked",
    async () => (await reported()).length > 0,
  );
  assert.deepEqual(await reported(), [refused?.id]);
});

for (const locked of [1, 25]) {
  test(`If an application locks the rows of ${locked} of 30 jobs, the results of the other jobs are not delayed.`, async () => {
    const gate = latch();
    const task = recordingTask<number>("task", () => gate.opened);
    const jobs = await added(30);
    await queue.startWorker({ tasks: [task], pollIntervalMs: 50, concurrency: 30 });
    await waitUntil("all jobs run", () => task.seen.length === 30);
    const client = await queue.pool.connect();
    const isOverFor = (others: number) => async () => (await queue.remaining()).length === others;
    try {
      await client.query("begin");
      await client.query("select from worker._private_jobs where id = any($1) for key share", [
        jobs.slice(2, 2 + locked).map(({ id }) => id),
      ]);
      gate.open();
      await waitUntil("all other jobs are done", isOverFor(locked));
      await queue.utils.addJob("task", 100);
      await waitUntil("a later job has run", () => task.seen.includes(100));
      await waitUntil("the later job is done", isOverFor(locked));
      await client.query("commit");
    } finally {
      client.release();
    }
    await waitUntil("all jobs are done", isOverFor(0));
    assert.equal(task.seen.length, 31);
  });
}

for (const [how, body] of [
  ["refuses to unlock", "raise 'not this queue'"],
  ["cannot unlock now", "raise 'it is locked' using errcode = 'lock_not_available'"],
] as const) {
  test(`A queue that PostgreSQL ${how} does not delay other queues.`, async (t: TestContext) => {
    t.after(() => queue.sql("drop function if exists public.refuse_queue cascade"));
    await queue.sql(`create function public.refuse_queue() returns trigger language plpgsql as $$ begin
        if new.queue_name = 'q0' and new.locked_by is null then ${body}; end if; return new; end $$`);
    const task = recordingTask<number>("task");
    const { lines, logger } = recorder();
    await added(20, (n) => ({ queueName: `q${n % 4}` }));
    await queue.sql(`create trigger refuse_queue before update on worker._private_job_queues
      for each row execute function public.refuse_queue()`);
    await queue.startWorker({ tasks: [task], logger, pollIntervalMs: 50, concurrency: 4 });
    const others = () => task.seen.filter((n) => n % 4 !== 0).length;
    await waitUntil("all jobs of the other queues have run", () => others() === 15);
    await queue.utils.addJob("task", 101, { queueName: "q1" });
    await waitUntil("a later job of another queue has run", () => others() === 16);
    if (how === "refuses to unlock") {
      const refused = lines.filter(({ message }) => /refuses to unlock a queue/.test(message));
      assert.match(`${refused[0]?.fields["error"]}`, /not this queue/);
    }
    await queue.sql("drop trigger refuse_queue on worker._private_job_queues");
    await waitUntil("all jobs are done", async () => (await queue.remaining()).length === 0);
    assert.equal(task.seen.length, 21);
  });
}
