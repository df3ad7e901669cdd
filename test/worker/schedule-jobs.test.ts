// Tests which jobs schedules add, also if the database refuses a job or a schedule's row. The tests set the time
// themselves.
import assert from "node:assert/strict";
import { after, before, beforeEach, describe, test } from "node:test";
import type pg from "pg";
import { schemaName } from "../../src/database/schema-name.ts";
import { listCron } from "../../src/insight/lists/cron/list-cron.ts";
import { readSchedule } from "../../src/insight/read/list-schedules.ts";
import { makeWorkerUtils } from "../../src/utils/worker-utils.ts";
import { migratedDatabase } from "../support/database.ts";
import { type TestPool, testPool } from "../support/test-pool.ts";
import { jobsOf, ManualTime, timesOf, unique } from "./cron-harness.ts";
import { insertSchedule, runner, setNext } from "./schedule-harness.ts";

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

describe("Overlap", () => {
  const ticks = ["10:01", "10:02", "10:03"];
  const run = async (between: (tick: string) => Promise<unknown> = async () => {}) => {
    const time = new ManualTime("2026-01-05T10:00:00.001Z");
    const { schedules, events } = runner({ pool, time });
    await schedules.start(true);
    for (const tick of ticks) {
      await time.goTo(`2026-01-05T${tick}:00.000Z`);
      await between(tick);
    }
    await schedules.stop();
    return events;
  };
  const lock = (name: string) =>
    pool.query(
      `update worker._private_jobs set locked_at = now(), locked_by = 'w'
       where task_id = (select id from worker._private_tasks where identifier = $1)`,
      [name],
    );

  test("allow: each tick adds a job.", async () => {
    const name = unique("allow");
    await insertSchedule(pool, name, "* * * * *", "2026-01-05T10:01Z");
    assert.equal((await run()).length, 3);
    assert.deepEqual(await timesOf(pool, name), ticks);
  });

  const retry = () =>
    pool.query("update worker._private_jobs set attempts = 1, run_at = now() + interval '1 hour'");
  const unfinished = { waits: async () => {}, runs: lock, "will be retried": retry };
  for (const [what, between] of Object.entries(unfinished)) {
    test(`skip: a tick adds no job while the job of an earlier tick ${what}.`, async () => {
      const name = unique("skip");
      await insertSchedule(pool, name, "* * * * *", "2026-01-05T10:01Z", { overlap: "skip" });
      assert.equal((await run(() => between(name))).length, 1);
      const { rows } = await pool.query("select from worker.jobs where task_identifier = $1", [
        name,
      ]);
      assert.equal(rows.length, 1);
    });
  }

  test("skip: a job that has failed for good does not stop its schedule.", async () => {
    const name = unique("failed");
    await insertSchedule(pool, name, "* * * * *", "2026-01-05T10:01Z", { overlap: "skip" });
    const events = await run(() =>
      pool.query("update worker._private_jobs set attempts = max_attempts"),
    );
    assert.equal(events.length, 3);
    assert.deepEqual(await timesOf(pool, name), ticks);
  });

  test("replace: a tick replaces a job that waits, and adds another job if the job of an earlier tick runs.", async () => {
    const name = unique("replace");
    await insertSchedule(pool, name, "* * * * *", "2026-01-05T10:01Z", { overlap: "replace" });
    await run((tick) => (tick === "10:01" ? lock(name) : Promise.resolve()));
    assert.deepEqual(await timesOf(pool, name), ["10:01", "10:03"]);
  });
});

describe("Jitter", () => {
  test("The delay of a job is the same on every worker, is below the jitter, and usually differs between schedules.", async () => {
    const { jitterOf } = await import("../../src/domain/cron/schedule.ts");
    const delays = Array.from({ length: 200 }, (_, n) =>
      jitterOf(`s${n}`, 1_767_607_200_000, 60_000),
    );
    assert.ok(delays.every((ms) => Number.isInteger(ms) && ms >= 0 && ms < 60_000));
    assert.ok(new Set(delays).size > 150);
    const name = unique("jitter");
    await insertSchedule(pool, name, "* * * * *", "2026-01-05T10:01Z", { jitterMs: 30_000 });
    const time = new ManualTime("2026-01-05T10:00:00.001Z");
    const { schedules } = runner({ pool, time });
    await schedules.start(true);
    await time.goTo("2026-01-05T10:01:00.000Z");
    await schedules.stop();
    const tickMs = Date.parse("2026-01-05T10:01Z");
    const [job] = await jobsOf(pool, name);
    assert.equal(
      Date.parse(job?.run_at ?? ""),
      Math.floor((tickMs + jitterOf(name, tickMs, 30_000)) / 1_000) * 1_000,
    );
    assert.equal(JSON.parse(job?.payload ?? "{}")._cron.ts, "2026-01-05T10:01:00.000Z");
  });
});

describe("Problems with one schedule or its job", () => {
  test("A schedule that this version cannot read is logged once, and other schedules add their jobs.", async () => {
    const [bad, good] = [unique("bad"), unique("good")];
    for (const name of [bad, good])
      await insertSchedule(pool, name, "* * * * *", "2026-01-05T10:01Z");
    await pool.query(
      "update worker._private_schedules set pattern = '99 * * * *' where identifier = $1",
      [bad],
    );
    const time = new ManualTime("2026-01-05T10:00:00.001Z");
    const { schedules, lines } = runner({ pool, time });
    await schedules.start(true);
    await time.goTo("2026-01-05T10:01:00.000Z");
    await time.goTo("2026-01-05T10:02:00.000Z");
    await schedules.stop();
    assert.deepEqual(await timesOf(pool, good), ["10:01", "10:02"]);
    assert.deepEqual(
      lines.map(({ level }) => level),
      ["error"],
    );
  });

  test("A schedule whose next tick is outside the years 1 to 9999 stops neither other schedules nor the list of schedules.", async () => {
    const [early, late, good] = [unique("early"), unique("late"), unique("good")];
    for (const name of [early, late, good])
      await insertSchedule(pool, name, "* * * * *", "2026-01-05T10:01Z");
    await setNext(pool, early, "4713-01-01 BC");
    await setNext(pool, late, "290000-01-01");
    const utils = await makeWorkerUtils({ pool });
    const times = async () => {
      const both = [await utils.getSchedule(early), await utils.getSchedule(late)];
      return both.map(({ nextAt }) => nextAt?.toJSON());
    };
    const latest = "9999-12-31T23:59:59.999Z";
    assert.deepEqual(await times(), ["0001-01-01T00:00:00.000Z", latest]);
    const time = new ManualTime("2026-01-05T10:00:00.001Z");
    const { schedules, lines } = runner({ pool, time });
    await schedules.start(true);
    await time.goTo("2026-01-05T10:01:00.000Z");
    await time.goTo("2026-01-05T10:02:00.000Z");
    await schedules.stop();
    assert.deepEqual(await timesOf(pool, good), ["10:01", "10:02"]);
    assert.deepEqual(lines, []);
    assert.deepEqual(await times(), ["2026-01-05T10:03:00.000Z", latest]);
    const { entries } = await listCron(db(), { sort: "next", search: "", limit: 10, cursor: null });
    assert.equal(entries.find(({ identifier }) => identifier === late)?.isAhead, true);
  });

  test("A schedule whose row the database refuses to change does not keep other schedules from adding jobs.", async () => {
    const names = ["a", "b", "c"].map((letter) => `${letter} ${unique("refused")}`);
    const [before = "", bad = "", after = ""] = names;
    for (const name of names) await insertSchedule(pool, name, "* * * * *", "2026-01-05T10:01Z");
    await pool.query(`create function public.refuse() returns trigger language plpgsql as $$ begin
      if new.identifier = '${bad}' then raise exception 'no'; end if; return new; end $$`);
    await pool.query(`create trigger refuse before update on worker._private_schedules
      for each row execute function public.refuse()`);
    const time = new ManualTime("2026-01-05T10:00:00.001Z");
    const { schedules } = runner({ pool, time });
    await schedules.start(true);
    for (const minute of ["01", "02"]) await time.goTo(`2026-01-05T10:${minute}:00.000Z`);
    await schedules.stop();
    await pool.query("drop function public.refuse() cascade");
    for (const name of [before, after])
      assert.deepEqual(await timesOf(pool, name), ["10:01", "10:02"]);
    assert.deepEqual(await timesOf(pool, bad), []);
    for (const name of names) await setNext(pool, name, "infinity");
  });

  test("If the database refuses a job, its tick adds no job, and the schedule continues with the next tick.", async () => {
    const [bad, good] = [unique("refused"), unique("accepted")];
    for (const name of [bad, good])
      await insertSchedule(pool, name, "* * * * *", "2026-01-05T10:01Z");
    await pool.query(`create function public.refuse() returns trigger language plpgsql as $$ begin
      if new.task_id = (select id from worker._private_tasks where identifier = '${bad}')
      then raise exception 'no'; end if; return new; end $$`);
    await pool.query(`create trigger refuse before insert on worker._private_jobs
      for each row execute function public.refuse()`);
    const time = new ManualTime("2026-01-05T10:00:00.001Z");
    const { schedules } = runner({ pool, time });
    await schedules.start(true);
    await time.goTo("2026-01-05T10:01:00.000Z");
    await pool.query("drop function public.refuse() cascade");
    await time.goTo("2026-01-05T10:02:00.000Z");
    await schedules.stop();
    assert.deepEqual(await timesOf(pool, good), ["10:01", "10:02"]);
    assert.deepEqual(await timesOf(pool, bad), ["10:02"]);
    assert.equal((await readSchedule(db(), bad)).nextMs, Date.parse("2026-01-05T10:03Z"));
    await setNext(pool, bad, "infinity");
  });
});

describe("A next tick that was set by SQL", () => {
  const runUntil = async (end: string) => {
    const time = new ManualTime("2026-01-05T10:00:00.001Z");
    const { schedules } = runner({ pool, time });
    await schedules.start(true);
    for (const at of ["10:01:00.001", end]) await time.goTo(`2026-01-05T${at}Z`);
    await schedules.stop();
  };

  test("A next tick with microseconds, such as the value of now(), adds its job.", async () => {
    const name = unique("exact");
    await insertSchedule(pool, name, "* * * * *", "2026-01-05T10:01:00.000123Z");
    await runUntil("10:02:00.000");
    assert.deepEqual(await timesOf(pool, name), ["10:01", "10:02"]);
  });

  test("Invalid schedules with the same next tick do not keep later schedules from adding jobs, even if the invalid schedules fill more than one page of due schedules.", async () => {
    const name = unique("later");
    await pool.query(
      `insert into worker._private_schedules (identifier, task, pattern, next_at)
       select 'invalid-' || n, 'invalid', '99 * * * *', '2026-01-05T10:01:00.000123Z' from generate_series(1, 250) as n`,
    );
    await insertSchedule(pool, name, "* * * * *", "2026-01-05T10:01:00.000124Z");
    await runUntil("10:02:00.000");
    assert.deepEqual(await timesOf(pool, name), ["10:01", "10:02"]);
  });
});
