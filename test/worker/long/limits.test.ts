// Tests limits with several workers. No more jobs run at once, or start in a period, than a limit allows. While enough
// jobs wait, as many jobs run at once as the limit allows.
import assert from "node:assert/strict";
import { afterEach, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { readLimits } from "../../../src/queue/limits/limits.ts";
import { exchangePermits } from "../../../src/queue/limits/permits.ts";
import { HeldLimit } from "../../../src/worker/limits/held-limit.ts";
import { LimitWatch } from "../../../src/worker/limits/limit-watch.ts";
import { TokenLeases } from "../../../src/worker/limits/token-leases.ts";
import { defineTask } from "../../../src/worker/task/task.ts";
import { migratedDatabase } from "../../support/database.ts";
import { manualClock } from "../../support/manual-clock.ts";
import {
  latch,
  recorder,
  recordingTask,
  waitFor,
  waitUntil,
  witness,
  workerQueue,
} from "../worker-queue.ts";

const queue = workerQueue(() => migratedDatabase("worker", ["limits"]));
afterEach(() => queue.sql("delete from worker._private_limits"));

/**
 * Options with which a worker sends heartbeats. By default, workerQueue() creates workers without heartbeats, which
 * start no job that needs a permit.
 */
const BEATS = { recovery: { heartbeatIntervalMs: 500, thresholdMs: 5_000 } } as const;

/**
 * Returns a task whose jobs take `ms` milliseconds, and `seen`, which counts its jobs. `most`: the largest number of
 * jobs that ran at once.
 */
function counted(identifier: string, ms: number) {
  const seen = { running: 0, most: 0, done: 0, starts: [] as number[] };
  const task = defineTask(identifier, async () => {
    seen.running++;
    seen.most = Math.max(seen.most, seen.running);
    seen.starts.push(performance.now());
    await sleep(ms);
    seen.running--;
    seen.done++;
  });
  return { task, seen };
}

const add = (count: number, identifier: string, spec = {}) =>
  queue.utils.addJobs(
    Array.from({ length: count }, (_, n) => ({ identifier, payload: { n }, spec })),
  );

for (const [mode, options] of [
  ["safe mode", {}],
  ["fast lane", { fastLane: true }],
] as const) {
  test(`Three workers run at most as many jobs of a task at once as its limit allows (${mode}).`, async () => {
    await queue.utils.setLimit({ name: "two", task: "limited", concurrency: 2 });
    const { task, seen } = counted("limited", 5);
    await add(120, "limited");
    const began = performance.now();
    for (let n = 0; n < 3; n++) {
      await queue.startWorker({ tasks: [task], concurrency: 10, ...BEATS, ...options });
    }
    await waitUntil("all jobs have run", () => seen.done === 120);
    assert.equal(seen.most, 2);
    assert.ok(performance.now() - began < 10_000);
    await waitUntil(
      "the results of all jobs are written",
      async () => (await queue.remaining()).length === 0,
    );
  });

  test(`Jobs of a task without a limit run while more urgent jobs of another task wait for their limit (${mode}).`, async () => {
    await queue.utils.setLimit({ name: "one", task: "limited", concurrency: 1 });
    const { opened, open } = latch();
    const limited = recordingTask("limited", () => opened);
    const other = recordingTask("other");
    await add(30, "limited", { priority: -10 });
    await add(50, "other");
    await queue.startWorker({ tasks: [limited, other], concurrency: 4, ...BEATS, ...options });
    await waitUntil("all jobs of the other task have run", () => other.seen.length === 50);
    await waitUntil("one limited job runs", () => limited.seen.length === 1);
    open();
    await waitUntil("the limited jobs have run", () => limited.seen.length === 30);
  });
}

test("A limit can be raised, lowered and removed while its jobs run.", async () => {
  await queue.utils.setLimit({ name: "l", task: "limited", concurrency: 1 });
  const { task, seen } = counted("limited", 10);
  await add(2_000, "limited");
  await queue.startWorker({ tasks: [task], concurrency: 20, ...BEATS });
  await queue.startWorker({ tasks: [task], concurrency: 20, ...BEATS });
  await waitUntil("some jobs have run", () => seen.done > 5);
  assert.equal(seen.most, 1);
  await queue.utils.setLimit({ name: "l", task: "limited", concurrency: 6 });
  await waitUntil("six jobs have run at once", () => seen.most >= 6);
  assert.equal(seen.most, 6);
  await queue.utils.setLimit({ name: "l", task: "limited", concurrency: 2 });
  await waitUntil("at most two jobs run", () => seen.running <= 2);
  const held = "select sum(permits)::int as permits from worker._private_limit_permits";
  await waitUntil(
    "the workers hold 2 permits",
    async () => (await queue.sql(held))[0]?.["permits"] === 2,
  );
  await waitUntil("at most two jobs run", () => seen.running <= 2);
  const done = seen.done;
  seen.most = 0;
  await waitUntil("some more jobs have run", () => seen.done > done + 20);
  assert.ok(seen.most <= 2, `${seen.most} jobs ran at once`);
  await queue.utils.removeLimit("l");
  seen.most = 0;
  await waitUntil("more jobs run at once than any of the limits allowed", () => seen.most > 20);
  await waitUntil("all jobs have run", () => seen.done === 2_000);
});

test("A lowered limit applies as soon as the jobs that were already running have ended.", async () => {
  await queue.utils.setLimit({ name: "l", task: "limited", concurrency: 6 });
  const { task, seen } = counted("limited", 300);
  await add(200, "limited");
  await queue.startWorker({ tasks: [task], concurrency: 3, ...BEATS });
  await queue.startWorker({ tasks: [task], concurrency: 3, ...BEATS });
  await waitUntil("six jobs run", () => seen.running === 6);
  await queue.utils.setLimit({ name: "l", task: "limited", concurrency: 4 });
  const { done } = seen;
  await waitUntil("the jobs that were running have ended", () => seen.done > done + 12);
  seen.most = seen.running;
  await waitUntil("more jobs have run", () => seen.done > done + 24);
  assert.equal(seen.most, 4);
});

test("A worker without jobs of a task gives up its permits to a worker that needs more.", async () => {
  await queue.utils.setLimit({ name: "l", task: "limited", concurrency: 4 });
  const first = counted("limited", 20);
  const idle = await queue.startWorker({ tasks: [first.task], concurrency: 4, ...BEATS });
  await add(4, "limited");
  await waitUntil("the first worker has run its jobs", () => first.seen.done === 4);
  const second = counted("limited", 20);
  await queue.startWorker({ tasks: [second.task], concurrency: 4, ...BEATS });
  await add(600, "limited");
  await waitUntil("all jobs have run", () => first.seen.done + second.seen.done === 604);
  assert.ok(second.seen.done > 20, `the second worker ran ${second.seen.done} of 600 jobs`);
  await idle.stop();
  await add(50, "limited");
  await waitUntil("the second worker uses all permits", () => second.seen.running === 4);
});

test("The permits of a stopped worker are free at once.", async () => {
  await queue.utils.setLimit({ name: "l", task: "limited", concurrency: 2 });
  const first = counted("limited", 5);
  const one = await queue.startWorker({ tasks: [first.task], ...BEATS });
  await add(1, "limited");
  await waitUntil("the job of the first worker has run", () => first.seen.done === 1);
  const permits = () => queue.sql("select worker_id from worker._private_limit_permits");
  assert.deepEqual(await permits(), [{ worker_id: one.id }]);
  await one.stop();
  assert.deepEqual(await permits(), []);
  const second = counted("limited", 5);
  await queue.startWorker({ tasks: [second.task], ...BEATS });
  await add(5, "limited");
  await waitUntil("the second worker has run the new jobs", () => second.seen.done === 5);
});

test("Two limits of one task both apply.", async () => {
  await queue.utils.setLimit({ name: "wide", task: "*", concurrency: 3 });
  await queue.utils.setLimit({ name: "narrow", task: "a", concurrency: 2 });
  const [a, b] = [counted("a", 5), counted("b", 5)];
  let most = 0;
  const watch = setInterval(() => {
    most = Math.max(most, a.seen.running + b.seen.running);
  }, 1);
  await add(60, "a");
  await add(60, "b");
  for (let n = 0; n < 2; n++) {
    await queue.startWorker({ tasks: [a.task, b.task], concurrency: 10, ...BEATS });
  }
  await waitUntil("all jobs have run", () => a.seen.done + b.seen.done === 120);
  clearInterval(watch);
  assert.ok(a.seen.most <= 2, `${a.seen.most} jobs of the task a ran at once`);
  assert.ok(most <= 3, `${most} jobs ran at once`);
});

test("Several workers together do not exceed a rate.", async () => {
  await queue.utils.setLimit({
    name: "r",
    task: "limited",
    rate: { limit: 50, perMs: 1_000, burst: 5 },
  });
  const { task, seen } = counted("limited", 0);
  await add(200, "limited");
  for (let n = 0; n < 3; n++) await queue.startWorker({ tasks: [task], concurrency: 10, ...BEATS });
  await waitUntil("all jobs have run", () => seen.done === 200);
  const starts = seen.starts.toSorted((x, y) => x - y);
  const inSecond = starts.map((at, n) => starts.slice(n).filter((one) => one < at + 1_000).length);
  assert.ok(Math.max(...inSecond) <= 55, `${Math.max(...inSecond)} jobs started in a second`);
});

test("Under a rate that applies to all tasks, jobs start even if a task with the option concurrency has no jobs.", async () => {
  await queue.utils.setLimit({ name: "api", task: "*", rate: { limit: 100, perMs: 1_000 } });
  const { task, seen } = counted("limited", 0);
  const own = defineTask("own", () => {}, { concurrency: 1 });
  await add(20, "limited");
  await queue.startWorker({ tasks: [task, own], ...BEATS });
  await waitUntil("all jobs have run", () => seen.done === 20);
});

test("A faster rate applies at once, even if the old rate has no token left.", async () => {
  await queue.utils.setLimit({ name: "r", task: "limited", rate: { limit: 1, perMs: 3_600_000 } });
  const { task, seen } = counted("limited", 0);
  await add(10, "limited");
  await queue.startWorker({ tasks: [task], ...BEATS });
  const used = "select 1 from worker._private_rates where tat > now() + interval '1 minute'";
  await waitUntil("the old rate has no token left", async () => (await queue.sql(used)).length > 0);
  await queue.utils.setLimit({ name: "r", task: "limited", rate: { limit: 100, perMs: 1_000 } });
  await waitUntil("all jobs have run", () => seen.done === 10, 5_000);
});

for (const target of [{ task: "limited" }, { queue: "q" }]) {
  const scope = Object.keys(target).join();
  test(`A token of a slow rate that arrives too late to start a job is given back and taken again (${scope}).`, async () => {
    await queue.sql(`create sequence worker.uses;
      create function worker.slow() returns trigger language plpgsql as $$ begin
        if nextval('worker.uses') = 1 then perform pg_sleep(0.3); end if;
        return new;
      end $$;
      create trigger slow before update on worker._private_rates for each row execute function worker.slow()`);
    await queue.utils.setLimit({ name: "r", ...target, rate: { limit: 1, perMs: 3_600_000 } });
    const { task, seen } = counted("limited", 0);
    await add(2, "limited", { queueName: "q" });
    try {
      await queue.startWorker({ tasks: [task], ...BEATS });
      await waitUntil("the first job has run", () => seen.done === 1, 6_000);
      const [row] = await queue.sql("select last_value::int as uses from worker.uses");
      assert.ok(Number(row?.["uses"]) >= 3, "the token was taken, returned and taken again");
    } finally {
      await queue.sql("drop function worker.slow() cascade; drop sequence worker.uses");
      await queue.sql("delete from worker._private_jobs");
    }
  });
}

/**
 * Starts a worker under a rate of one job an hour, and resolves while the worker requests the token. A trigger makes
 * the request take at least 200 ms.
 */
async function takingToken() {
  await queue.sql(`create function worker.slow() returns trigger language plpgsql as $$ begin
      if new.tat > old.tat then perform pg_sleep(0.2); end if;
      return new;
    end $$;
    create trigger slow before update on worker._private_rates for each row execute function worker.slow()`);
  await queue.utils.setLimit({ name: "r", task: "limited", rate: { limit: 1, perMs: 3_600_000 } });
  const { task, seen } = counted("limited", 0);
  await add(1, "limited");
  const worker = await queue.startWorker({ tasks: [task], ...BEATS });
  const text = `select 1 from pg_stat_activity
    where wait_event = 'PgSleep' and datname = current_database()`;
  const isTaking = async () => (await queue.sql(text)).length > 0;
  await waitUntil("a token is being taken", isTaking);
  return { task, seen, worker, isTaking };
}

test("A worker that is stopped while it requests a token gives the token back.", async () => {
  try {
    const { worker, seen, task } = await takingToken();
    await worker.stop();
    assert.equal(seen.done, 0);
    await queue.sql("drop function worker.slow() cascade");
    await queue.startWorker({ tasks: [task], ...BEATS });
    await waitUntil("the job has run", () => seen.done === 1);
  } finally {
    await queue.sql("drop function if exists worker.slow() cascade");
    await queue.sql("delete from worker._private_jobs");
  }
});

test("A token is given back if its limit was changed to another task while the token was requested.", async () => {
  try {
    const { isTaking } = await takingToken();
    await queue.utils.setLimit({ name: "r", task: "other", rate: { limit: 1, perMs: 3_600_000 } });
    await waitUntil("the token is taken", async () => !(await isTaking()));
    const taken = "select 1 from worker._private_rates where tat > now()";
    await waitUntil("the token is returned", async () => (await queue.sql(taken)).length === 0);
  } finally {
    await queue.sql("drop function worker.slow() cascade");
    await queue.sql("delete from worker._private_jobs");
  }
});

test("Under a rate of one job an hour, a worker that waits for a token requests the token again after a minute.", async () => {
  await queue.utils.setLimit({ name: "r", task: "limited", rate: { limit: 1, perMs: 3_600_000 } });
  const { database } = queue.utils;
  const [limit] = await readLimits(database);
  assert.ok(limit);
  const clock = manualClock();
  const changed = latch();
  const tokens = new TokenLeases({
    ...{ clock, logger: recorder().logger, database },
    changed: () => changed.open(),
  });
  const [first, second] = [new HeldLimit(limit.id, clock), new HeldLimit(limit.id, clock)];
  for (const held of [first, second]) held.define(limit);
  tokens.consider(first, 1);
  await waitUntil("the token is taken", () => first.tokens === 1);
  tokens.consider(second, 1);
  await waitUntil("the second HeldLimit waits for a token", () => clock.nextMs !== null);
  await tokens.giveBack(first);
  clock.advance(60_020);
  await changed.opened;
  tokens.consider(second, 1);
  await waitUntil("the second HeldLimit has the token", () => second.tokens === 1);
});

test("Jobs under a rate continue to start after the clock of the database was set back by a day.", async () => {
  await queue.utils.setLimit({ name: "r", task: "limited", rate: { limit: 100, perMs: 1_000 } });
  const { task, seen } = counted("limited", 0);
  await add(1, "limited");
  await queue.startWorker({ tasks: [task], ...BEATS });
  await waitUntil("the first job has run", () => seen.done === 1);
  await queue.sql("update worker._private_rates set tat = now() + interval '1 day'");
  await add(5, "limited");
  await waitUntil("the other jobs have run", () => seen.done === 6, 5_000);
});

test("Jobs under a rate of queues continue to start after the clock of the database was set back by a day.", async () => {
  await queue.utils.setLimit({ name: "r", queue: "k/*", rate: { limit: 100, perMs: 1_000 } });
  const { task, seen } = counted("limited", 0);
  await add(1, "limited", { queueName: "k/1" });
  await queue.startWorker({ tasks: [task], ...BEATS });
  await waitUntil("the first job has run", () => seen.done === 1);
  await queue.sql("update worker._private_rates set tat = now() + interval '1 day'");
  await add(5, "limited", { queueName: "k/1" });
  await waitUntil("the other jobs have run", () => seen.done === 6, 5_000);
});

test("A limit that begins to apply to a task grants no permits until the workers that were already running have read the limit.", async () => {
  const rate = { limit: 10, perMs: 1_000 };
  await queue.sql(`insert into worker._private_workers (id, started_at, last_heartbeat_at)
    values ('older', now() - interval '1 minute', now()), ('other', now(), now())`);
  let number = 0;
  const granted = async (workerId: string) => {
    const [limit] = await readLimits(queue.db);
    const exchange = { limitId: limit?.id ?? 0, workerId, inUse: 0, wanted: 2, number: ++number };
    return (await exchangePermits(queue.db, exchange)).permits;
  };
  // Moves `set_at` back by a minute. Every worker is assumed to have read a limit that was set that long ago.
  const pass = () =>
    queue.sql("update worker._private_limits set set_at = set_at - interval '1 minute'");
  await queue.utils.setLimit({ name: "l", task: "a", concurrency: 2 });
  assert.equal(await granted("other"), 0);
  // By its own exchange, the older worker shows that it has read the limit.
  assert.equal(await granted("older"), 2);
  await queue.utils.setLimit({ name: "l", task: "b", concurrency: 4 });
  assert.equal(await granted("other"), 0);
  await queue.utils.setLimit({ name: "l", task: "b", concurrency: 5 });
  assert.equal(await granted("other"), 0);
  await pass();
  assert.equal(await granted("other"), 2);
  await queue.utils.setLimit({ name: "l", task: "b", concurrency: 6 });
  await queue.sql("update worker._private_limit_permits set permits = 0 where worker_id = 'other'");
  assert.equal(await granted("other"), 2);
  await queue.utils.setLimit({ name: "l", task: "b", rate });
  await pass();
  await queue.utils.setLimit({ name: "l", task: "b", rate, concurrency: 6 });
  assert.equal(await granted("other"), 0);
  assert.equal((await readLimits(queue.db))[0]?.revision, 6);
  await queue.sql("delete from worker._private_workers");
});

test("A worker that needed permits when the clock was set back gets its share.", async () => {
  await queue.utils.setLimit({ name: "l", task: "limited", concurrency: 4 });
  await queue.sql(`insert into worker._private_workers (id, last_heartbeat_at)
    values ('one', now()), ('two', now())`);
  const [limit] = await readLimits(queue.db);
  const exchange = (workerId: string, inUse: number, number: number) =>
    exchangePermits(queue.db, { limitId: limit?.id ?? 0, workerId, inUse, wanted: 4, number });
  assert.equal((await exchange("one", 4, 1)).permits, 4);
  assert.equal((await exchange("two", 0, 1)).permits, 0);
  await queue.sql(`update worker._private_limit_permits set short_since = now() + interval '1 hour'
    where worker_id = 'two'`);
  await exchange("two", 0, 2);
  let number = 1;
  await waitUntil("the first worker's share is 2 permits", async () => {
    return (await exchange("one", 4, ++number)).share === 2;
  });
  await queue.sql("delete from worker._private_workers where id in ('one', 'two')");
});

for (const table of ["_private_limits", "_private_pauses"]) {
  test(`A worker does not start while another transaction locks the table ${table}.`, async () => {
    await queue.utils.setLimit({ name: "l", task: "limited", concurrency: 1 });
    await add(5, "limited");
    const { task, seen } = counted("limited", 0);
    const other = await queue.pool.connect();
    await other.query(`begin; lock table worker.${table}`);
    const worker = queue.worker({ tasks: [task], ...BEATS });
    await assert.rejects(worker.start(), /a lock could not be acquired in time/);
    await other.query("rollback");
    other.release();
    assert.equal(seen.done, 0);
  });
}

test("The option concurrency of a task applies to each worker separately.", async () => {
  const { task, seen } = counted("own", 10);
  const own = { ...task, concurrency: 2 };
  await add(40, "own");
  await queue.startWorker({ tasks: [own], concurrency: 10 });
  await queue.startWorker({ tasks: [own], concurrency: 10 });
  await waitUntil("all jobs have run", () => seen.done === 40);
  assert.ok(seen.most > 2 && seen.most <= 4, `${seen.most} jobs ran at once`);
});

test("With 40 limited tasks, only a few fetches are empty before a job without a limit is fetched.", async () => {
  const seen = witness("job:fetch");
  const own = Array.from({ length: 40 }, (_, n) => ({
    ...recordingTask(`own${n}`),
    concurrency: 1,
  }));
  const free = recordingTask("free");
  const worker = await queue.startWorker({ tasks: [...own, free], plugins: [seen] });
  let empty = 0;
  for (let n = 1; n <= 20; n++) {
    await worker.drain();
    const before = seen.all("job:fetch").length;
    await add(1, "free");
    await waitUntil("the job without a limit has run", () => free.seen.length === n);
    const fetches = seen.all("job:fetch").slice(before);
    empty += fetches.findIndex(({ count }) => count > 0);
  }
  assert.ok(empty < 100, `${empty} fetches were empty`);
});

test("A worker without heartbeats runs no limited job, and warns once.", async () => {
  await queue.utils.setLimit({ name: "l", task: "limited", concurrency: 2 });
  const [limited, other] = [recordingTask("limited"), recordingTask("other")];
  const warnings: string[] = [];
  const logger = {
    ...{ debug() {}, info() {}, error() {} },
    warn: (_: object, message: string) => void warnings.push(message),
  };
  await queue.startWorker({ tasks: [limited, other], logger, recovery: false });
  await add(3, "limited");
  await add(3, "other");
  await waitUntil("the jobs without a limit have run", () => other.seen.length === 3);
  await waitUntil("the worker has logged the warning", () =>
    warnings.some((one) => one.includes("without heartbeats")),
  );
  assert.equal(limited.seen.length, 0);
  assert.equal(warnings.filter((one) => one.includes("without heartbeats")).length, 1);
});

test("The drain of a worker without heartbeats ends, and leaves the jobs that need permits.", async () => {
  await queue.utils.setLimit({ name: "l", task: "limited", concurrency: 1 });
  const limited = recordingTask("limited");
  const other = recordingTask("other");
  await add(1, "limited");
  await add(1, "other");
  const worker = queue.worker({ tasks: [limited, other], recovery: false });
  await waitFor("the drain", worker.drain());
  assert.deepEqual([limited.seen.length, other.seen.length], [0, 1]);
});

test("A drain ends while another worker holds all permits and no job is ready.", async () => {
  await queue.utils.setLimit({ name: "l", task: "limited", concurrency: 1 });
  const { opened, open } = latch();
  const held = recordingTask("limited", () => opened);
  await queue.startWorker({ tasks: [held], ...BEATS });
  await add(1, "limited");
  await waitUntil("the job of the first worker runs", () => held.seen.length === 1);
  const other = await queue.startWorker({ tasks: [recordingTask("limited")], ...BEATS });
  await other.drain();
  open();
});

test("A worker whose role may not read the limits runs without limits, and warns of that.", async () => {
  await queue.sql(`create role narrow bypassrls; grant usage on schema worker to narrow;
    grant all on all tables in schema worker to narrow; revoke all on worker._private_limits from narrow;
    grant all on all sequences in schema worker to narrow; grant all on all functions in schema worker to narrow`);
  const { lines, logger } = recorder();
  const limited = recordingTask("limited");
  const connectionString = `${queue.url}${queue.url.includes("?") ? "&" : "?"}options=-c%20role%3Dnarrow`;
  const worker = await queue.startWorker({ connectionString, tasks: [limited], logger });
  await add(1, "limited");
  await waitUntil("the job has run", () => limited.seen.length === 1);
  await worker.stop();
  await queue.sql("drop owned by narrow; drop role narrow");
  const warnings = lines
    .filter(({ level }) => level === "warn")
    .map(({ message, fields }) => [message, fields["error"]]);
  assert.deepEqual(warnings, [
    [
      "this role may not read the limits: none applies to this worker",
      "permission denied for table _private_limits",
    ],
  ]);
});

test("A worker that may no longer read the limits keeps the limits that it read last, and warns once.", async () => {
  await queue.utils.setLimit({ name: "l", task: "limited", concurrency: 1 });
  const warnings: string[] = [];
  const logger = {
    ...{ debug() {}, info() {}, error() {} },
    warn: (_: object, message: string) => void warnings.push(message),
  };
  const watch = new LimitWatch(logger, () => {});
  await watch.read(queue.utils.database);
  const refused = Object.assign(new Error("permission denied"), { code: "42501" });
  const client = { query: () => Promise.reject(refused) };
  for (let n = 0; n < 2; n++) await watch.read({ ...queue.utils.database, client });
  assert.deepEqual(
    watch.limits.map(({ definition }) => definition.name),
    ["l"],
  );
  assert.deepEqual(warnings, ["limits could not be read: the last ones apply"]);
});
