// Tests schedulers, the parts of workers that add the jobs of cron entries: several schedulers at once, also with
// Graphile Worker's, and schedulers that lose the database.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { setTimeout } from "node:timers/promises";
import type pg from "pg";
import { wait } from "../../../src/base/clock.ts";
import { schemaName } from "../../../src/database/schema-name.ts";
import { cronEntry, everyMinute, everyMinutes } from "../../../src/domain/cron/cron-entry.ts";
import { databaseTime } from "../../../src/queue/cron/database-time.ts";
import { migratedDatabase } from "../../support/database.ts";
import { type TestPool, testPool } from "../../support/test-pool.ts";
import { jobsOf, ManualTime, scheduler, timesOf, unique } from "../cron-harness.ts";
import { runStock, stockSchedule } from "../cron-stock.ts";

let own: TestPool;
let pool: pg.Pool;
let url: string;

before(async () => {
  const database = await migratedDatabase();
  url = database.url;
  const first = testPool(url, 1);
  await first.pool.query(`alter database "${database.name}" set deadlock_timeout = '20ms'`);
  await first.close();
  own = testPool(url, 10);
  pool = own.pool;
});
after(() => own.close());

/** Returns the times of each task's jobs. Fails if two jobs of a task have the same time. */
async function distinctTimes(prefix: string): Promise<Map<string, string[]>> {
  const byTask = Map.groupBy(await jobsOf(pool, prefix), (job) => job.task_identifier);
  const times = new Map<string, string[]>();
  for (const [task, jobs] of byTask) {
    const runAts = jobs.map(({ run_at }) => run_at);
    assert.equal(new Set(runAts).size, runAts.length, `the task ${task} has two jobs for one tick`);
    times.set(task, runAts);
  }
  return times;
}

describe("Several schedulers", () => {
  test("Five schedulers at once schedule each tick of each entry once.", async () => {
    const time = new ManualTime("2026-01-05T10:00:00.001Z");
    const task = unique("five");
    const entries = [
      everyMinute(`${task}_a`),
      everyMinute(`${task}_b`, { jobKey: `${task}_b`, jobKeyMode: "preserve_run_at" }),
      everyMinutes(5, `${task}_c`),
      cronEntry("7,9 10 * * *", `${task}_d`),
    ];
    const pools = Array.from({ length: 5 }, () => testPool(url, 2));
    const schedulers = pools.map((one) => scheduler({ pool: one.pool, entries, time }));
    await Promise.all(schedulers.map(({ cron }) => cron.start()));
    for (let minute = 1; minute <= 20; minute++) {
      await time.goTo(`2026-01-05T10:${String(minute).padStart(2, "0")}:00.000Z`, 5);
    }
    // All five schedulers catch up at once.
    await time.goTo("2026-01-05T10:40:00.000Z", 5);
    const times = await distinctTimes(task);
    assert.equal(times.get(`${task}_a`)?.length, 40);
    assert.equal(times.get(`${task}_b`)?.length, 1);
    assert.equal(times.get(`${task}_c`)?.length, 8);
    assert.equal(times.get(`${task}_d`)?.length, 2);
    const ticks = schedulers.flatMap(({ events }) =>
      events.filter((one) => !one.startsWith("tick")),
    );
    assert.equal(ticks.length, 40 + 40 + 8 + 2);
    assert.equal(new Set(ticks).size, ticks.length);
    for (const { lines } of schedulers) assert.equal(lines.length, 0);
    await Promise.all(schedulers.map(({ cron }) => cron.stop()));
    await Promise.all(pools.map((one) => one.close()));
  });

  test("Our scheduler does not schedule a tick that Graphile Worker has scheduled, and vice versa.", async () => {
    const time = new ManualTime("2026-01-05T10:00:00.001Z");
    const task = unique("turns");
    const { cron, events } = scheduler({ pool, entries: [everyMinute(task)], time });
    await cron.start();
    await time.resting();
    await stockSchedule(pool, [task], "2026-01-05T10:01:00.000Z");
    await time.goTo("2026-01-05T10:01:00.000Z");
    assert.deepEqual(events, [`tick 2026-01-05T10:01:00.000Z ${task}`]);
    await time.goTo("2026-01-05T10:02:00.000Z");
    await stockSchedule(pool, [task], "2026-01-05T10:02:00.000Z");
    // After Graphile Worker's tick 10:04 our scheduler schedules only later ticks, so the tick 10:03 gets no job.
    await stockSchedule(pool, [task], "2026-01-05T10:04:00.000Z");
    await time.goTo("2026-01-05T10:06:00.000Z");
    assert.deepEqual(await timesOf(pool, task), ["10:01", "10:02", "10:04", "10:05", "10:06"]);
    await cron.stop();
  });

  test("If our schedulers and Graphile Worker's statement schedule the same ticks, every tick has one job.", async () => {
    const time = new ManualTime("2026-01-05T10:00:00.001Z");
    const task = unique("mixed");
    const names = ["a", "b", "c"].map((name) => `${task}_${name}`);
    const entries = names.map((name) => everyMinute(name));
    const ours = [1, 2].map(() => scheduler({ pool, entries, time }));
    await Promise.all(ours.map(({ cron }) => cron.start()));
    await time.resting(2);
    for (let minute = 1; minute <= 30; minute++) {
      const tick = `2026-01-05T10:${String(minute).padStart(2, "0")}:00.000Z`;
      // The two statements list the entries in opposite orders, so that deadlocks occur. After a deadlock, our
      // scheduler attempts the tick again.
      const stock = [names, names.toReversed()].map((list) =>
        stockSchedule(pool, list, tick).catch(() => {}),
      );
      await Promise.all([...stock, time.goTo(tick, 2)]);
      while (!(await isTaken(names, tick))) {
        time.wake(true);
        await time.resting(2);
      }
    }
    const times = await distinctTimes(task);
    for (const name of names) assert.equal(times.get(name)?.length, 30);
    await Promise.all(ours.map(({ cron }) => cron.stop()));
  });

  test("When three schedulers start together with two Graphile workers, each tick is backfilled once.", async () => {
    const task = unique("fleet");
    const names = ["a", "b", "c", "d"].map((name) => `${task}_${name}`);
    const entries = names.map((name) => everyMinute(name, { fillMs: 3_600_000 }));
    const crontab = names.map((name) => `* * * * * ${name} ?fill=1h`).join("\n");
    await pool.query(
      `insert into worker._private_known_crontabs (identifier, known_since)
       select name, now() - interval '1 day' from unnest($1::text[]) as name`,
      [names],
    );
    const caughtUp: Promise<void>[] = [];
    const ours = [1, 2, 3].map(() => {
      const rests = Promise.withResolvers<void>();
      caughtUp.push(rests.promise);
      const db = { client: pool, schema: schemaName() };
      return scheduler({
        pool,
        entries,
        time: {
          now: () => databaseTime(db),
          wait: (ms, signal) => {
            rests.resolve();
            return wait(ms, signal);
          },
        },
      });
    });
    const stock = [1, 2].map(() => runStock(url, { crontab }));
    await Promise.all([
      ...ours.map(({ cron }) => cron.start()),
      ...stock.map((one) => one.started),
    ]);
    await Promise.all(caughtUp);
    await Promise.all([...ours.map(({ cron }) => cron.stop()), ...stock.map((one) => one.stop())]);
    const times = await distinctTimes(task);
    for (const name of names) {
      const list = times.get(name) ?? [];
      assert.ok(
        list.length === 60 || list.length === 61,
        `the task ${name} has ${list.length} jobs`,
      );
      const [first = "", last = ""] = [list[0], list.at(-1)];
      assert.equal(Date.parse(last) - Date.parse(first), (list.length - 1) * 60_000);
    }
  });
});

async function isTaken(names: readonly string[], tick: string): Promise<boolean> {
  const { rowCount } = await pool.query(
    "select from worker._private_known_crontabs where identifier = any($1) and last_execution >= $2",
    [names, tick],
  );
  return rowCount === names.length;
}

describe("When the database is lost", () => {
  test("Ticks whose transactions were cut off are scheduled once afterwards, and the outage is logged once.", async () => {
    const time = new ManualTime("2026-01-05T10:00:00.001Z");
    const task = unique("cut");
    const victim = testPool(url, 2);
    const { cron, lines } = scheduler({ pool: victim.pool, entries: [everyMinute(task)], time });
    await cron.start();
    await time.goTo("2026-01-05T10:01:00.000Z");
    const blocker = await pool.connect();
    await blocker.query("begin");
    await blocker.query(
      "select from worker._private_known_crontabs where identifier = $1 for update",
      [task],
    );
    for (let outage = 0; outage < 3; outage++) {
      await time.resting();
      time.nowMs = Date.parse("2026-01-05T10:03:00.000Z");
      time.wake(true);
      await terminateWaiting();
    }
    await time.resting();
    assert.deepEqual(
      lines.map(({ level }) => level),
      ["warn"],
    );
    assert.ok((time.waitsMs.at(-1) ?? 0) > (time.waitsMs.at(-3) ?? 0) / 2);
    await blocker.query("commit");
    blocker.release();
    assert.deepEqual(await timesOf(pool, task), ["10:01"]);
    await time.goTo("2026-01-05T10:05:00.000Z");
    assert.deepEqual(await timesOf(pool, task), ["10:01", "10:02", "10:03", "10:04", "10:05"]);
    assert.deepEqual(
      lines.map(({ level }) => level),
      ["warn", "info"],
    );
    await cron.stop();
    await victim.close();
  });

  test("If the commit of a tick gets no answer, the job of the tick is not added twice.", async () => {
    const time = new ManualTime("2026-01-05T10:00:00.001Z");
    const task = unique("answer");
    const lossy = testPool(url, 1);
    let commits = 0;
    // The answers to the first two commits are lost. After a lost answer, the pool opens a new connection.
    lossy.pool.on("connect", (client) => {
      const query = client.query.bind(client) as (...call: unknown[]) => Promise<unknown>;
      client.query = ((...call: unknown[]) => {
        const result = query(...call);
        if ((call[0] as pg.QueryConfig).text !== "commit" || commits++ >= 2) return result;
        return result.then(() => Promise.reject(new Error("Connection terminated unexpectedly")));
      }) as typeof client.query;
    });
    const { cron, lines } = scheduler({ pool: lossy.pool, entries: [everyMinute(task)], time });
    await cron.start();
    await time.goTo("2026-01-05T10:02:00.000Z");
    while (commits < 3) {
      time.wake(true);
      await time.resting();
      await setTimeout(1);
    }
    assert.deepEqual(await timesOf(pool, task), ["10:01", "10:02"]);
    assert.equal(lines.length, 2);
    await cron.stop();
    await lossy.close();
  });

  test("While the clock cannot be read, no tick is lost, and the scheduler can stop.", async () => {
    const time = new ManualTime("2026-01-05T10:00:00.001Z");
    const task = unique("clock");
    let isAway = false;
    const now = () => (isAway ? Promise.reject(new Error("away")) : time.now());
    const flaky = { now, wait: (ms: number, signal: AbortSignal) => time.wait(ms, signal) };
    const { cron, lines } = scheduler({ pool, entries: [everyMinute(task)], time: flaky });
    await cron.start();
    isAway = true;
    await time.goTo("2026-01-05T11:00:00.000Z");
    isAway = false;
    await time.goTo("2026-01-05T11:00:30.000Z");
    assert.equal((await jobsOf(pool, task)).length, 60);
    isAway = true;
    await time.goTo("2026-01-05T11:02:00.000Z");
    await cron.stop();
    assert.deepEqual(
      lines.map(({ level }) => level),
      ["warn", "info", "warn"],
    );
  });
});

/** Terminates the sessions that wait for a lock, as soon as there is at least one. */
async function terminateWaiting(): Promise<void> {
  const sql = `
    select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock'`;
  while ((await pool.query(sql)).rowCount === 0) await setTimeout(2);
}
