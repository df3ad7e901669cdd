// Tests how workers run the jobs of managed queues: named queues under a limit. A queue without a limit is ordinary.
import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { WorkerError } from "../../src/base/errors.ts";
import { ManagedQueues } from "../../src/worker/fetch/managed-queues.ts";
import { defineTask } from "../../src/worker/task/task.ts";
import { migratedDatabase } from "../support/database.ts";
import { assertFastRounds, timed } from "../support/fast-round.ts";
import { manualClock } from "../support/manual-clock.ts";
import { latch, waitUntil, workerQueue } from "./worker-queue.ts";

const queue = workerQueue(() => migratedDatabase("worker", ["limits"]));
beforeEach(() =>
  queue.sql(`truncate worker._private_limits, worker._private_queue_slots, worker._private_rates,
    worker._private_pauses, worker._private_back_offs restart identity cascade`),
);

interface Run {
  readonly queue: string;
  readonly n: number;
  readonly atMs: number;
}

/** Returns a task and its recorded `runs`. For each queue: how many jobs run `now`, and the `most` that ran at once. */
function watched(name = "task", ms = 1) {
  const runs: Run[] = [];
  const now = new Map<string, number>();
  const most = new Map<string, number>();
  const task = defineTask<{ n: number }>(name, async ({ n }, { job }) => {
    const of = job.queueName ?? "";
    const running = (now.get(of) ?? 0) + 1;
    now.set(of, running);
    most.set(of, Math.max(most.get(of) ?? 0, running));
    runs.push({ queue: of, n, atMs: performance.now() });
    if (ms > 0) await sleep(ms);
    now.set(of, (now.get(of) ?? 0) - 1);
  });
  return { task, runs, most, now };
}

const jobs = (queueNames: readonly string[], each: number, identifier = "task") =>
  queue.utils.addJobs(
    Array.from({ length: each * queueNames.length }, (_, i) => ({
      identifier,
      payload: { n: Math.floor(i / queueNames.length) },
      spec: { queueName: queueNames[i % queueNames.length] as string },
    })),
  );

const names = (count: number, prefix = "tenant") =>
  Array.from({ length: count }, (_, n) => `${prefix}/${n}`);

const empty = () => waitUntil("no job is left", async () => (await queue.remaining()).length === 0);

test("Twenty queues with three slots each never run more than three jobs per queue at once, on several workers.", async () => {
  await queue.utils.setLimit({ name: "tenants", queue: "tenant/*", concurrency: 3 });
  const of = watched("task", 2);
  const tenants = names(20);
  await jobs(tenants, 15);
  await Promise.all([1, 2, 3].map(() => queue.startWorker({ tasks: [of.task], concurrency: 10 })));
  await empty();
  assert.equal(of.runs.length, 300);
  for (const name of tenants)
    assert.ok((of.most.get(name) ?? 0) <= 3, `${of.most.get(name)} jobs of a queue run at once`);
  // While no other queue has jobs, a queue uses all of its slots.
  await jobs(["tenant/0"], 40);
  await empty();
  assert.equal(of.most.get("tenant/0"), 3);
});

test("A queue with one slot runs its jobs one at a time and in order, on several workers.", async () => {
  await queue.utils.setLimit({ name: "one", queue: "q", concurrency: 1 });
  const of = watched("task", 0);
  await jobs(["q"], 100);
  await Promise.all([1, 2].map(() => queue.startWorker({ tasks: [of.task], concurrency: 4 })));
  await empty();
  assert.deepEqual(
    of.runs.map(({ n }) => n),
    Array.from({ length: 100 }, (_, n) => n),
  );
  assert.equal(of.most.get("q"), 1);
});

test("Soon after Graphile Worker's add_job has created a queue, the queue becomes managed and uses both of its slots.", async () => {
  await queue.utils.setLimit({ name: "tenants", queue: "*", concurrency: 2 });
  const of = watched();
  await queue.startWorker({ tasks: [of.task], concurrency: 8 });
  let round = 0;
  await assertFastRounds(1_500, 1, () =>
    timed(async () => {
      const name = `new-${++round}`;
      await queue.sql(
        `select worker.add_job('task', json_build_object('n', n), $1) from generate_series(1, 20) n`,
        [name],
      );
      await empty();
      assert.equal(of.most.get(name), 2);
    }),
  );
});

test("Queues are read again soon after a lost connection, however late the loss was noticed.", async () => {
  const clock = manualClock();
  const queues = new ManagedQueues(clock);
  const failing = (error: Error) =>
    ({
      withSettings: async () => {
        clock.advance(7_500);
        throw error;
      },
    }) as never;
  await assert.rejects(queues.manage(failing(new WorkerError("database_unreachable", "lost"))));
  assert.equal(queues.dueAtMs - clock.monotonic(), 1_000);
  clock.advance(1_000);
  // A timeout shows that the server has worked for all of the 7.5 s. So the wait is 20 times 7.5 s.
  await assert.rejects(queues.manage(failing(new WorkerError("database_timeout", "slow"))));
  assert.equal(queues.dueAtMs - clock.monotonic(), 150_000);
  queues.runEnded();
  assert.equal(
    queues.dueAtMs - clock.monotonic(),
    150_000,
    "the end of a run does not shorten the wait",
  );
});

test("The rate of a queue is not exceeded, and is fully used while jobs wait.", async () => {
  await queue.utils.setLimit({
    name: "r",
    queue: "q",
    concurrency: 4,
    rate: { limit: 100, perMs: 1_000, burst: 20 },
  });
  const of = watched("task", 1);
  await Promise.all([1, 2].map(() => queue.startWorker({ tasks: [of.task], concurrency: 8 })));
  await assertFastRounds(2_000, 1, async () => {
    await jobs(["q"], 150);
    await empty();
    const at = of.runs.splice(0).map(({ atMs }) => atMs);
    at.sort((a, b) => a - b);
    for (const [i, first] of at.entries()) {
      const within = at.slice(i).filter((ms) => ms - first < 500).length;
      assert.ok(within <= 70, `${within} jobs started within 500 ms`);
    }
    return (at.at(-1) ?? 0) - (at[0] ?? 0);
  });
});

test("A raised limit applies while jobs run. After the limit is removed, the queue becomes ordinary again.", async () => {
  await queue.utils.setLimit({ name: "l", queue: "q", concurrency: 1 });
  const hold = latch();
  const started: number[] = [];
  const task = defineTask<{ n: number }>("task", async ({ n }) => {
    started.push(n);
    await hold.opened;
  });
  await jobs(["q"], 12);
  await queue.startWorker({ tasks: [task], concurrency: 10 });
  await waitUntil("one job runs", () => started.length === 1);
  await queue.utils.setLimit({ name: "l", queue: "q", concurrency: 3 });
  await waitUntil("three jobs run", () => started.length === 3);
  await queue.utils.removeLimit("l");
  await queue.sql("select 1");
  hold.open();
  await empty();
  await waitUntil("the queue is no longer managed", async () => {
    const [row] = await queue.sql<{ locked_by: string | null }>(
      "select locked_by from worker._private_job_queues where queue_name = 'q'",
    );
    return row?.locked_by === null;
  });
});

test("A paused queue with a limit runs nothing, and continues when it is resumed.", async () => {
  await queue.utils.setLimit({ name: "l", queue: "*", concurrency: 2 });
  const of = watched("task", 0);
  const other = watched("other", 0);
  await queue.startWorker({ tasks: [of.task, other.task], concurrency: 4 });
  await jobs(["q"], 1);
  await waitUntil("the first job of the queue has run", () => of.runs.length === 1);
  await queue.utils.pauseQueue("q");
  await jobs(["q"], 5);
  await jobs(["p"], 3, "other");
  await waitUntil("all jobs of the other queue have run", () => other.runs.length === 3);
  assert.equal(of.runs.length, 1);
  await queue.utils.resumeQueue("q");
  await empty();
  assert.equal(of.runs.length, 6);
});

test("A fetch of managed queues that has timed out is repeated with more time.", async () => {
  await queue.utils.setLimit({ name: "one", queue: "q", concurrency: 1 });
  await queue.sql(`create function worker.slow() returns trigger language plpgsql as $$ begin
      if current_setting('statement_timeout') = '6500ms' then perform pg_sleep(10); end if;
      return new;
    end $$;
    create trigger slow before update on worker._private_queue_slots for each row
      when (new.locked_by is not null) execute function worker.slow()`);
  try {
    const of = watched("task", 0);
    await jobs(["q"], 1);
    await queue.startWorker({ tasks: [of.task] });
    await empty();
  } finally {
    await queue.sql("drop function worker.slow() cascade");
  }
});

test("An ordinary queue is found among locked managed queues, and all of its jobs run.", async () => {
  await queue.utils.setLimit({ name: "tenants", queue: "tenant/*", concurrency: 1 });
  const of = watched("task", 0);
  await jobs(names(3), 5);
  await queue.startWorker({ tasks: [of.task], concurrency: 2 });
  await empty();
  await jobs(["ordinary"], 1);
  await empty();
  await jobs(["ordinary"], 200);
  await empty();
  assert.equal(of.runs.length, 216);
});

test("While all queues are managed, few fetches read the rows of all queues.", async () => {
  const queues = 20_000;
  await queue.utils.setLimit({ name: "tenants", queue: "tenant/*", concurrency: 1 });
  await queue.sql(
    `insert into worker._private_job_queues (queue_name, locked_at, locked_by)
     select 'tenant/' || n, 'infinity', 'managed:1' from generate_series(1, $1::int) n`,
    [queues],
  );
  await queue.sql(`insert into worker._private_queue_slots (queue_id, slot)
    select id, 1 from worker._private_job_queues`);
  await queue.sql("analyze worker._private_job_queues");
  const read = async () => {
    const [row] = await queue.sql<{ n: number }>(
      `select (seq_tup_read + idx_tup_fetch)::float8 as n from pg_stat_user_tables
       where schemaname = 'worker' and relname = '_private_job_queues'`,
    );
    return (row?.n ?? 0) / queues;
  };
  const of = watched("task", 0);
  const worker = await queue.startWorker({ tasks: [of.task], concurrency: 1 });
  const before = await read();
  for (let n = 1; n <= 300; n++) {
    await queue.utils.addJob("task", { n });
    await waitUntil("the added job has run", async () => of.runs.length === n);
  }
  await worker.stop();
  const most = (await read()) - before;
  assert.ok(most < 150, `fetches read the rows of all queues ${most} times`);
});
