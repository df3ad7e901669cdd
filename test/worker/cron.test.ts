// Tests one scheduler, the part of a worker that adds the jobs of cron entries: which ticks the scheduler handles, and
// which jobs it adds.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type pg from "pg";
import { cronEntry, everyMinute, everyMinutes } from "../../src/domain/cron/cron-entry.ts";
import { migratedDatabase } from "../support/database.ts";
import { type TestPool, testPool } from "../support/test-pool.ts";
import { jobsOf, ManualTime, scheduler, timesOf, unique } from "./cron-harness.ts";

let own: TestPool;
let pool: pg.Pool;

before(async () => {
  own = testPool((await migratedDatabase()).url, 10);
  pool = own.pool;
});
after(() => own.close());

async function ledger(identifier: string): Promise<{ since: string; last: string | null }> {
  const { rows } = await pool.query(
    "select known_since, last_execution from worker._private_known_crontabs where identifier = $1",
    [identifier],
  );
  const row = rows[0] as { known_since: Date; last_execution: Date | null };
  return { since: row.known_since.toJSON(), last: row.last_execution?.toJSON() ?? null };
}

describe("The scheduler", () => {
  test("If the stored last tick of an entry is in the future, one warning is logged, not one at each tick.", async () => {
    const time = new ManualTime("2026-01-05T10:00:30.000Z");
    const task = unique("ahead");
    const { cron, lines } = scheduler({ pool, entries: [everyMinute(task)], time });
    await cron.start();
    await time.resting();
    await pool.query(
      "update worker._private_known_crontabs set last_execution = '2026-01-06T10:00Z' where identifier = $1",
      [task],
    );
    for (const minute of ["01", "02", "03"]) await time.goTo(`2026-01-05T10:${minute}:00.000Z`);
    await cron.stop();
    const warned = lines.filter(({ message }) => message.includes("is in the future"));
    assert.deepEqual(
      warned.map(({ fields }) => (fields as { entries: string[] }).entries),
      [[task]],
    );
  });

  test("A tick adds a job with all options of the entry, due at the time of the tick.", async () => {
    const time = new ManualTime("2026-01-05T10:00:30.250Z");
    const task = unique("full");
    const entry = everyMinutes(5, task, {
      identifier: `${task}_id`,
      payload: { to: "me" },
      queueName: "q",
      priority: -3,
      maxAttempts: 7,
      jobKey: task,
    });
    const { cron, events, lines } = scheduler({ pool, entries: [entry], time });
    await cron.start();
    await time.resting();
    assert.deepEqual(await ledger(`${task}_id`), { since: "2026-01-05T10:00:30.250Z", last: null });
    for (const minute of ["01", "02", "03", "04"])
      await time.goTo(`2026-01-05T10:${minute}:30.250Z`);
    assert.deepEqual(await jobsOf(pool, task), []);
    await time.goTo("2026-01-05T10:05:00.000Z");
    assert.deepEqual(await jobsOf(pool, task), [
      {
        task_identifier: task,
        run_at: "2026-01-05T10:05:00Z",
        payload: '{"to":"me","_cron":{"ts":"2026-01-05T10:05:00.000Z","backfilled":false}}',
        queue_name: "q",
        priority: -3,
        max_attempts: 7,
        key: task,
      },
    ]);
    assert.equal((await ledger(`${task}_id`)).last, "2026-01-05T10:05:00.000Z");
    assert.deepEqual(events, [
      `scheduled ${task}_id 2026-01-05T10:05:00.000Z`,
      `tick 2026-01-05T10:05:00.000Z ${task}`,
    ]);
    await cron.stop();
    assert.equal(lines.length, 0);
  });

  test("The scheduler sleeps until the next tick, but at most a minute, and a timer that fires early has no effect.", async () => {
    const time = new ManualTime("2026-01-05T10:00:59.000Z");
    const task = unique("early");
    const { cron } = scheduler({ pool, entries: [everyMinutes(2, task)], time });
    await cron.start();
    await time.resting();
    for (const now of ["10:01:59.000", "10:01:59.999", "10:02:00.000", "10:02:00.001"]) {
      time.nowMs = Date.parse(`2026-01-05T${now}Z`);
      time.wake(true);
      await time.resting();
    }
    assert.deepEqual(time.waitsMs, [60_000, 1_000, 1, 60_000, 60_000]);
    assert.deepEqual(await timesOf(pool, task), ["10:02"]);
    await cron.stop();
  });

  test("After a timer that fires late, the job of each missed minute is added, and not marked as backfilled.", async () => {
    const time = new ManualTime("2026-01-05T10:00:00.001Z");
    const task = unique("late");
    const { cron, events } = scheduler({ pool, entries: [everyMinute(task)], time });
    await cron.start();
    await time.goTo("2026-01-05T10:04:20.000Z");
    assert.deepEqual(await timesOf(pool, task), ["10:01", "10:02", "10:03", "10:04"]);
    assert.ok(events.every((event) => !event.startsWith("backfilled")));
    await cron.stop();
  });

  test("After a long sleep, an entry's ticks of the last 24 hours are scheduled. If the entry has a backfill period, these 24 hours are extended by this period.", async () => {
    const time = new ManualTime("2026-01-05T10:00:00.001Z");
    const task = unique("sleep");
    const entries = [
      cronEntry("0 * * * *", `${task}_plain`),
      cronEntry("0 * * * *", `${task}_fill`, { fillMs: 48 * 3_600_000 }),
      cronEntry("0 0 1 1 *", `${task}_yearly`),
    ];
    const { cron, lines } = scheduler({ pool, entries, time });
    await cron.start();
    await time.goTo("2026-02-05T10:30:00.000Z");
    const plain = await jobsOf(pool, `${task}_plain`);
    assert.equal(plain.length, 24);
    assert.equal(plain[0]?.run_at, "2026-02-04T11:00:00Z");
    assert.equal(plain.at(-1)?.run_at, "2026-02-05T10:00:00Z");
    assert.equal((await jobsOf(pool, `${task}_fill`)).length, 72);
    assert.deepEqual(
      lines.map(({ level, fields }) => [level, fields["entries"]]),
      [["warn", [`${task}_plain`, `${task}_fill`]]],
    );
    await cron.stop();
  });

  test("When the clock is set back, no tick is scheduled twice, and no later tick is lost.", async () => {
    const time = new ManualTime("2026-01-05T10:00:00.001Z");
    const task = unique("back");
    const { cron, lines } = scheduler({ pool, entries: [everyMinute(task)], time });
    await cron.start();
    await time.goTo("2026-01-05T10:03:00.000Z");
    // A small step back, as after a failover to another server, is not logged.
    time.nowMs = Date.parse("2026-01-05T10:02:59.990Z");
    time.wake(true);
    await time.resting();
    assert.equal(time.waitsMs.at(-1), 60_000);
    assert.equal(lines.length, 0);
    time.nowMs = Date.parse("2026-01-05T10:01:30.000Z");
    time.wake(true);
    await time.resting();
    assert.deepEqual(
      lines.map(({ message }) => message.slice(0, 30)),
      ["the database's clock was set b", "the stored last tick of these "],
    );
    for (const minute of ["02", "03", "04", "05"])
      await time.goTo(`2026-01-05T10:${minute}:30.000Z`);
    assert.deepEqual(await timesOf(pool, task), ["10:01", "10:02", "10:03", "10:04", "10:05"]);
    await cron.stop();
  });

  test("The jobs of one tick are added in the order of the entries, and an entry that never matches has no effect.", async () => {
    const time = new ManualTime("2026-01-05T10:00:00.001Z");
    const task = unique("order");
    const entries = ["z", "a", "m"].map((name) => everyMinute(`${task}_${name}`));
    const never = cronEntry("0 0 30 2 *", `${task}_never`);
    const { cron, events } = scheduler({ pool, entries: [never, ...entries], time });
    await cron.start();
    await time.goTo("2026-01-05T10:01:00.000Z");
    const names = (await jobsOf(pool, task)).map((job) => job.task_identifier.at(-1));
    assert.deepEqual(names, ["z", "a", "m"]);
    assert.equal(events.at(-1), `tick 2026-01-05T10:01:00.000Z ${task}_z,${task}_a,${task}_m`);
    await cron.stop();
  });

  test("With a job key, only one job waits. Each tick moves the job to the time of the tick, but with preserve_run_at the job keeps its time.", async () => {
    const time = new ManualTime("2026-01-05T10:00:00.001Z");
    const task = unique("keyed");
    const entries = [
      everyMinute(`${task}_replace`, { jobKey: `${task}_replace` }),
      everyMinute(`${task}_keep`, { jobKey: `${task}_keep`, jobKeyMode: "preserve_run_at" }),
    ];
    const { cron } = scheduler({ pool, entries, time });
    await cron.start();
    await time.goTo("2026-01-05T10:01:00.000Z");
    await time.goTo("2026-01-05T10:04:00.000Z");
    assert.deepEqual(await timesOf(pool, `${task}_replace`), ["10:04"]);
    assert.deepEqual(await timesOf(pool, `${task}_keep`), ["10:01"]);
    await cron.stop();
  });

  test("If the row with an entry's last tick is deleted, the next tick writes a new row.", async () => {
    const time = new ManualTime("2026-01-05T10:00:00.001Z");
    const task = unique("deleted");
    const { cron } = scheduler({ pool, entries: [everyMinute(task)], time });
    await cron.start();
    await time.goTo("2026-01-05T10:01:00.000Z");
    await pool.query("delete from worker._private_known_crontabs where identifier = $1", [task]);
    await time.goTo("2026-01-05T10:02:00.000Z");
    assert.deepEqual(await timesOf(pool, task), ["10:01", "10:02"]);
    assert.equal((await ledger(task)).last, "2026-01-05T10:02:00.000Z");
    await cron.stop();
  });

  test("stop() ends the scheduler at once: before its start, while it sleeps, and while an interceptor runs.", async () => {
    const time = new ManualTime("2026-01-05T10:00:00.001Z");
    const task = unique("stopped");
    const entries = [everyMinute(task)];
    const never = scheduler({ pool, entries, time });
    await never.cron.stop();
    await never.cron.start();
    await never.cron.stop();

    const asleep = scheduler({ pool, entries, time });
    await asleep.cron.start();
    await time.resting();
    await Promise.all([asleep.cron.stop(), asleep.cron.stop()]);

    const called = Promise.withResolvers<void>();
    const thinker = scheduler({
      pool,
      entries,
      time,
      plugins: [
        {
          name: "thinker",
          register: (hooks) =>
            hooks.intercept("beforeJobSchedule", () => {
              called.resolve();
              return new Promise(() => {});
            }),
        },
      ],
    });
    await thinker.cron.start();
    await time.resting();
    time.nowMs += 60_000;
    time.wake();
    await called.promise;
    await thinker.cron.stop();
    assert.deepEqual(await timesOf(pool, task), []);
    assert.equal((await ledger(task)).last, null);
  });

  test("If the schema is missing, the scheduler does not start.", async () => {
    const time = new ManualTime("2026-01-05T10:00:00.001Z");
    const { cron } = scheduler({ pool, entries: [everyMinute("t")], time, schema: "nowhere" });
    await assert.rejects(cron.start(), { code: "schema_missing" });
    await cron.stop();
  });
});

describe("Changed, skipped and refused cron jobs", () => {
  test("An interceptor can change, skip or refuse a job. In each case the tick counts as handled, and the jobs of other entries are added.", async () => {
    const time = new ManualTime("2026-01-05T10:00:00.001Z");
    const task = unique("asked");
    const entries = ["change", "skip", "fail", "throw", "break", "leave"].map((name) =>
      everyMinute(`${task}_${name}`, { payload: { name } }),
    );
    const { cron, lines, events } = scheduler({
      pool,
      entries,
      time,
      plugins: [
        {
          name: "judge",
          register: (hooks) =>
            hooks.intercept("beforeJobSchedule", (job) => {
              const payload = job.payload as { name: string };
              switch (payload.name) {
                case "change":
                  return { action: "change", job: { ...job, payload: { ...payload, more: 1 } } };
                case "skip":
                  return { action: "skip" };
                case "fail":
                  return { action: "fail", message: "not on Mondays" };
                case "throw":
                  throw new Error("it broke");
                case "break":
                  return { action: "change", job: { ...job, spec: { priority: 1e9 } } };
                default:
                  return undefined;
              }
            }),
        },
      ],
    });
    await cron.start();
    await time.goTo("2026-01-05T10:01:00.000Z");
    const stamp = '"_cron":{"ts":"2026-01-05T10:01:00.000Z","backfilled":false}';
    assert.deepEqual(
      (await jobsOf(pool, task)).map(({ payload }) => payload),
      [`{"name":"change",${stamp},"more":1}`, `{"name":"leave",${stamp}}`],
    );
    assert.deepEqual(
      lines.map(({ fields }) => `${String(fields["entry"]).split("_").at(-1)}: ${fields["error"]}`),
      [
        "fail: not on Mondays",
        "throw: it broke",
        "break: spec.priority: must be a whole number from -32768 to 32767",
      ],
    );
    for (const { identifier } of entries) {
      assert.equal((await ledger(identifier)).last, "2026-01-05T10:01:00.000Z");
    }
    assert.equal(events.filter((event) => event.startsWith("scheduled")).length, 2);
    await cron.stop();
  });

  test("A job that the database refuses is left out, and the other jobs of the tick are added.", async () => {
    const time = new ManualTime("2026-01-05T10:00:00.001Z");
    const task = unique("poison");
    await pool.query(`
      create function refuse() returns trigger language plpgsql as $$
      begin
        if new.payload->>'poison' is not null then raise exception 'poison'; end if;
        return new;
      end $$;
      create trigger refuse before insert on worker._private_jobs
      for each row execute function refuse()`);
    const entries = [
      everyMinute(`${task}_a`),
      everyMinute(`${task}_bad`, { payload: { poison: true } }),
      everyMinute(`${task}_b`, { jobKey: `${task}_b` }),
    ];
    const { cron, lines } = scheduler({ pool, entries, time });
    try {
      await cron.start();
      await time.goTo("2026-01-05T10:03:00.000Z");
      assert.deepEqual(await timesOf(pool, `${task}_a`), ["10:01", "10:02", "10:03"]);
      assert.deepEqual(await timesOf(pool, `${task}_bad`), []);
      assert.deepEqual(await timesOf(pool, `${task}_b`), ["10:03"]);
      assert.deepEqual(
        lines.map(({ level, fields }) => [level, fields["entry"]]),
        Array.from({ length: 3 }, () => ["error", `${task}_bad`]),
      );
      await pool.query("drop trigger refuse on worker._private_jobs");
      await time.goTo("2026-01-05T10:04:00.000Z");
      assert.deepEqual(await timesOf(pool, `${task}_bad`), ["10:04"]);
    } finally {
      await pool.query("drop function refuse cascade");
      await cron.stop();
    }
  });
});
