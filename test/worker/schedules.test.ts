// Tests schedules, with a manual clock: ticks with many workers, changes and pauses between ticks, and ticks that were
// missed.
import assert from "node:assert/strict";
import { after, before, beforeEach, describe, test } from "node:test";
import type pg from "pg";
import {
  changeSchedule,
  pauseSchedule,
  removeSchedule,
  resumeSchedule,
} from "../../src/commands/schedules/stored-schedules.ts";
import { schemaName } from "../../src/database/schema-name.ts";
import type { Plugin } from "../../src/worker/task/hooks.ts";
import { migratedDatabase } from "../support/database.ts";
import { type TestPool, testPool } from "../support/test-pool.ts";
import { jobsOf, ManualTime, timesOf, unique } from "./cron-harness.ts";
import { insertSchedule, runner } from "./schedule-harness.ts";

let own: TestPool;
let pool: pg.Pool;
const db = () => ({ client: pool, schema: schemaName() });

before(async () => {
  own = testPool((await migratedDatabase("worker", ["schedules"])).url, 10);
  pool = own.pool;
});
after(() => own.close());
beforeEach(async () => {
  await pool.query("truncate worker._private_schedules");
});

describe("A schedule", () => {
  test("Ten workers together add one job for each tick.", async () => {
    const names = Array.from({ length: 30 }, (_, n) => unique(`fleet_${n}`));
    for (const name of names) await insertSchedule(pool, name, "*/15 * * * *", "2026-01-05T10:15Z");
    const time = new ManualTime("2026-01-05T10:00:00.001Z");
    const all = Array.from({ length: 10 }, () => runner({ pool, time }));
    await Promise.all(all.map(({ schedules }) => schedules.start(true)));
    for (const tick of ["10:15", "10:30", "10:45", "11:00"]) {
      await time.goTo(`2026-01-05T${tick}:00.000Z`, 10);
    }
    // At a tick, a worker skips the schedules that another worker has locked, and reads them again a second later.
    await time.goTo("2026-01-05T11:00:01.000Z", 10);
    await Promise.all(all.map(({ schedules }) => schedules.stop()));
    for (const name of names) {
      assert.deepEqual(await timesOf(pool, name), ["10:15", "10:30", "10:45", "11:00"]);
    }
    assert.equal(all.flatMap(({ events }) => events).length, 120);
  });

  test("A schedule whose backfill period is beyond the range of a double stops no other schedule.", async () => {
    const [odd, name] = [unique("odd"), unique("sound")];
    for (const one of [odd, name])
      await insertSchedule(pool, one, "* * * * *", "2026-01-05T10:01Z");
    await pool.query(
      `update worker._private_schedules set spec = '{"fillMs": 1e999}' where identifier = $1`,
      [odd],
    );
    const time = new ManualTime("2026-01-05T10:00:00.001Z");
    const { schedules } = runner({ pool, time });
    await schedules.start(true);
    await time.goTo("2026-01-05T10:01:00.000Z");
    await schedules.stop();
    assert.deepEqual(await timesOf(pool, name), ["10:01"]);
  });

  test("The members of the payload are kept byte for byte, and _cron is added as the last member.", async () => {
    const { rawJson } = await import("../../src/domain/payload.ts");
    const [name, empty] = [unique("bytes"), unique("empty")];
    const payload = rawJson('{ "id": 12345678901234567890, "rate": 1.10, "list": [ ] }');
    await insertSchedule(pool, name, "* * * * *", "2026-01-05T10:01Z", { payload });
    await insertSchedule(pool, empty, "* * * * *", "2026-01-05T10:01Z");
    const time = new ManualTime("2026-01-05T10:00:00.001Z");
    const { schedules } = runner({ pool, time });
    await schedules.start(true);
    await time.goTo("2026-01-05T10:01:00.000Z");
    await schedules.stop();
    const stamp = '"_cron":{"ts":"2026-01-05T10:01:00.000Z","backfilled":false}}';
    const [job] = await jobsOf(pool, name);
    assert.equal(job?.payload, `{ "id": 12345678901234567890, "rate": 1.10, "list": [ ],${stamp}`);
    assert.equal((await jobsOf(pool, empty))[0]?.payload, `{${stamp}`);
  });

  test("If no interceptor changes the payload, its members are stored byte for byte; a payload that an interceptor changes is stored as the interceptor returns it.", async () => {
    const { rawJson } = await import("../../src/domain/payload.ts");
    const names = [unique("kept"), unique("changed")];
    const payload = rawJson('{ "id": 12345678901234567890 }');
    for (const name of names) {
      await insertSchedule(pool, name, "* * * * *", "2026-01-05T10:01Z", { payload });
    }
    const plugin: Plugin = {
      name: "flags",
      register: (hooks) =>
        hooks.intercept("beforeJobSchedule", (job) => {
          const isChanged = job.identifier === names[1];
          const spec = { ...job.spec, flags: ["seen"] };
          return {
            action: "change",
            job: { ...job, spec, ...(isChanged ? { payload: { id: "1" } } : {}) },
          };
        }),
    };
    const time = new ManualTime("2026-01-05T10:00:00.001Z");
    const { schedules } = runner({ pool, time, plugins: [plugin] });
    await schedules.start(true);
    await time.goTo("2026-01-05T10:01:00.000Z");
    await schedules.stop();
    const stamp = '"_cron":{"ts":"2026-01-05T10:01:00.000Z","backfilled":false}}';
    const payloads = await Promise.all(names.map(async (name) => (await jobsOf(pool, name))[0]));
    assert.deepEqual(
      payloads.map((job) => job?.payload),
      [`{ "id": 12345678901234567890,${stamp}`, '{"id":"1"}'],
    );
  });

  test("The job has the options of its schedule.", async () => {
    const name = unique("options");
    await insertSchedule(pool, name, "* * * * *", "2026-01-05T10:01Z", {
      ...{ queueName: "q", maxAttempts: 3, priority: -5, jobKey: name },
    });
    const time = new ManualTime("2026-01-05T10:00:00.001Z");
    const { schedules } = runner({ pool, time });
    await schedules.start(true);
    await time.goTo("2026-01-05T10:01:00.000Z");
    await time.goTo("2026-01-05T10:02:00.000Z");
    await schedules.stop();
    const [job, ...others] = await jobsOf(pool, name);
    assert.deepEqual(
      [job?.queue_name, job?.max_attempts, job?.priority, job?.key, job?.run_at.slice(11, 16)],
      ["q", 3, -5, name, "10:02"],
    );
    assert.equal(others.length, 0);
  });

  test("A paused schedule adds nothing. When it is resumed, the jobs for the ticks of the backfill period are added.", async () => {
    const [filled, plain] = [unique("filled"), unique("plain")];
    // Resuming uses the database's clock, so the manual time begins with the present minute.
    const time = new ManualTime(new Date(Math.floor(Date.now() / 60_000) * 60_000).toISOString());
    const at = (minutes: number) => new Date(time.nowMs + minutes * 60_000).toISOString();
    // The pattern has a tick every ten minutes. The next tick is five minutes away, so no tick is due during the minute
    // that passes in this test.
    const pattern = `${(new Date(time.nowMs).getUTCMinutes() + 5) % 10}-59/10 * * * *`;
    await insertSchedule(pool, filled, pattern, at(-60), { fillMs: 30 * 60_000 });
    await insertSchedule(pool, plain, pattern, at(-60));
    for (const name of [filled, plain]) await pauseSchedule(db(), name);
    const { schedules, events } = runner({ pool, time });
    await schedules.start(true);
    await time.resting();
    await time.goTo(at(1));
    assert.equal(events.length, 0);
    for (const name of [filled, plain]) await resumeSchedule(db(), name);
    time.wake(true);
    await time.resting();
    await schedules.stop();
    const added = events.filter((one) => one.includes(filled));
    assert.ok(added.length === 3 || added.length === 4, events.join());
    assert.ok(added.every((one) => one.startsWith("backfilled") || one.startsWith("scheduled")));
    assert.equal(events.filter((one) => one.includes(plain)).length, 0);
  });

  test("A schedule that is changed while its tick is computed adds one job, with the new payload.", async () => {
    const name = unique("edited");
    await insertSchedule(pool, name, "* * * * *", "2026-01-05T10:01Z", { payload: { version: 1 } });
    const time = new ManualTime("2026-01-05T10:00:00.001Z");
    let edits = 0;
    // An interceptor runs between the read of the schedule and the transaction that adds the job.
    const plugin = {
      name: "editor",
      register(hooks: import("../../src/worker/task/hooks.ts").Hooks) {
        hooks.intercept("beforeJobSchedule", async () => {
          if (edits++ > 0) return undefined;
          await changeSchedule(db(), name, { payload: { version: 2 } });
          return undefined;
        });
      },
    };
    const { schedules } = runner({ pool, time, plugins: [plugin] });
    await schedules.start(true);
    await time.goTo("2026-01-05T10:01:00.000Z");
    await time.goTo("2026-01-05T10:01:01.000Z");
    await schedules.stop();
    const jobs = await jobsOf(pool, name);
    assert.deepEqual(
      jobs.map(({ payload }) => JSON.parse(payload).version),
      [2],
    );
  });

  test("A changed pattern takes effect after a tick that is already due.", async () => {
    const name = unique("pattern");
    await insertSchedule(pool, name, "* * * * *", "2026-01-05T10:01Z");
    await changeSchedule(db(), name, { pattern: "0 12 * * *" });
    const time = new ManualTime("2026-01-05T10:00:00.001Z");
    const { schedules } = runner({ pool, time });
    await schedules.start(true);
    await time.goTo("2026-01-05T10:01:00.000Z");
    await time.goTo("2026-01-05T12:00:00.000Z");
    await schedules.stop();
    assert.deepEqual(await timesOf(pool, name), ["10:01", "12:00"]);
  });

  test("A schedule that is removed or paused after it was read, but before the transaction that adds its job, adds nothing.", async () => {
    for (const act of [pauseSchedule, removeSchedule]) {
      const name = unique("gone");
      await insertSchedule(pool, name, "* * * * *", "2026-01-05T10:01Z");
      const time = new ManualTime("2026-01-05T10:00:00.001Z");
      const plugin = {
        name: "actor",
        register(hooks: import("../../src/worker/task/hooks.ts").Hooks) {
          hooks.intercept("beforeJobSchedule", async () => void (await act(db(), name)));
        },
      };
      const { schedules, events } = runner({ pool, time, plugins: [plugin] });
      await schedules.start(true);
      await time.goTo("2026-01-05T10:01:00.000Z");
      await time.goTo("2026-01-05T10:05:00.000Z");
      await schedules.stop();
      assert.deepEqual([events, await jobsOf(pool, name)], [[], []]);
      await pool.query("truncate worker._private_schedules");
    }
  });
});

describe("Ticks that were missed", () => {
  test("Ticks that passed while no worker ran add jobs if they are within the backfill period; earlier ticks add none.", async () => {
    const [filled, plain] = [unique("filled"), unique("plain")];
    const fillMs = 2 * 3_600_000;
    await insertSchedule(pool, filled, "0 * * * *", "2026-01-05T04:00Z", { fillMs });
    await insertSchedule(pool, plain, "0 * * * *", "2026-01-05T04:00Z");
    const time = new ManualTime("2026-01-05T10:30:00.000Z");
    const { schedules, events } = runner({ pool, time });
    await schedules.start(true);
    await time.resting();
    // For ten seconds, a new worker leaves ticks older than the backfill period to workers that ran before its start.
    await time.goTo("2026-01-05T10:30:10.000Z");
    assert.deepEqual(await timesOf(pool, filled), ["09:00", "10:00"]);
    assert.deepEqual(await timesOf(pool, plain), []);
    await time.goTo("2026-01-05T11:00:00.000Z");
    await schedules.stop();
    assert.deepEqual(await timesOf(pool, filled), ["09:00", "10:00", "11:00"]);
    assert.deepEqual(await timesOf(pool, plain), ["11:00"]);
    assert.equal(events.filter((one) => one.startsWith("backfilled")).length, 2);
  });

  test("After an outage, a worker that ran before the outage adds the jobs of all missed ticks of the last 24 hours.", async () => {
    const name = unique("outage");
    await insertSchedule(pool, name, "0 * * * *", "2026-01-05T11:00Z");
    const time = new ManualTime("2026-01-05T10:30:00.000Z");
    const { schedules } = runner({ pool, time });
    await schedules.start(true);
    await time.goTo("2026-01-05T14:10:00.000Z");
    assert.deepEqual(await timesOf(pool, name), ["11:00", "12:00", "13:00", "14:00"]);
    await time.goTo("2026-01-08T14:10:00.000Z");
    await schedules.stop();
    assert.equal((await jobsOf(pool, name)).length, 4 + 24);
  });

  test("A worker that starts at a tick leaves the tick to a worker that ran before.", async () => {
    const name = unique("start");
    await insertSchedule(pool, name, "0 * * * *", "2026-01-05T10:00Z");
    const [first, late] = [
      new ManualTime("2026-01-05T09:30:00.000Z"),
      new ManualTime("2026-01-05T10:00:00.500Z"),
    ];
    const old = runner({ pool, time: first });
    const young = runner({ pool, time: late });
    await old.schedules.start(true);
    await first.resting();
    await young.schedules.start(true);
    await late.resting();
    assert.deepEqual(await timesOf(pool, name), []);
    await first.goTo("2026-01-05T10:00:02.000Z");
    await late.goTo("2026-01-05T10:00:15.000Z");
    await Promise.all([old.schedules.stop(), young.schedules.stop()]);
    assert.deepEqual(await timesOf(pool, name), ["10:00"]);
  });

  test("No schedule waits for the end of another schedule's long backlog.", async () => {
    const [long, short] = [unique("long"), unique("short")];
    await insertSchedule(pool, long, "* * * * *", "2026-01-04T10:00Z", { fillMs: 86_400_000 });
    await insertSchedule(pool, short, "0 10 * * *", "2026-01-05T10:00Z", { fillMs: 60_000 });
    const time = new ManualTime("2026-01-05T10:00:00.000Z");
    const { schedules, events } = runner({ pool, time });
    await schedules.start(true);
    await time.resting();
    await schedules.stop();
    assert.equal((await jobsOf(pool, long)).length, 1_441);
    const place = events.findIndex((one) => one.includes(short));
    assert.ok(
      place >= 0 && place <= 500,
      `the first event of the short schedule has the index ${place}`,
    );
  });
});
