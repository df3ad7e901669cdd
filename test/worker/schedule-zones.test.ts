// Tests schedules in time zones. On days on which the clocks change, ten workers together must add exactly one job for
// each tick.
import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import type pg from "pg";
import { migratedDatabase } from "../support/database.ts";
import { type TestPool, testPool } from "../support/test-pool.ts";
import { ManualTime, timesOf, unique } from "./cron-harness.ts";
import { insertSchedule, runner } from "./schedule-harness.ts";

const WORKERS = 10;

let own: TestPool;
let pool: pg.Pool;

before(async () => {
  own = testPool((await migratedDatabase("worker", ["schedules"])).url, 10);
  pool = own.pool;
});
after(() => own.close());
beforeEach(async () => {
  await pool.query("truncate worker._private_schedules");
});

/**
 * A change of the clocks of a time zone, and two patterns. The pattern of `fixed` has one time of the day. The pattern
 * of `stepped` has steps in the time that is skipped or repeated. `first`: the first tick after `from`. `ticks`: all
 * ticks after `from` and until `until`. All times are in UTC, except those in the patterns.
 */
interface Edge {
  readonly timeZone: string;
  readonly from: string;
  readonly until: string;
  readonly fixed: readonly [pattern: string, first: string, ticks: readonly string[]];
  readonly stepped: readonly [pattern: string, first: string, ticks: readonly string[]];
}

const edges: readonly Edge[] = [
  {
    ...{ timeZone: "Europe/Berlin", from: "2026-03-29T00:15Z", until: "2026-03-29T01:45Z" },
    fixed: ["30 2 * * *", "2026-03-29T01:00Z", ["01:00"]],
    stepped: ["*/30 2 * * *", "2026-03-30T00:00Z", []],
  },
  {
    ...{ timeZone: "Europe/Berlin", from: "2026-10-24T23:45Z", until: "2026-10-25T02:15Z" },
    fixed: ["30 2 * * *", "2026-10-25T00:30Z", ["00:30"]],
    stepped: ["*/30 2 * * *", "2026-10-25T00:00Z", ["00:00", "00:30", "01:00", "01:30"]],
  },
  {
    ...{ timeZone: "America/New_York", from: "2026-03-08T06:45Z", until: "2026-03-08T08:15Z" },
    fixed: ["30 2 * * *", "2026-03-08T07:00Z", ["07:00"]],
    stepped: ["*/30 2 * * *", "2026-03-09T06:00Z", []],
  },
  {
    ...{ timeZone: "America/New_York", from: "2026-11-01T04:45Z", until: "2026-11-01T07:15Z" },
    fixed: ["30 1 * * *", "2026-11-01T05:30Z", ["05:30"]],
    stepped: ["*/30 1 * * *", "2026-11-01T05:00Z", ["05:00", "05:30", "06:00", "06:30"]],
  },
  {
    ...{ timeZone: "Australia/Lord_Howe", from: "2026-10-03T14:45Z", until: "2026-10-03T16:15Z" },
    fixed: ["15 2 * * *", "2026-10-03T15:30Z", ["15:30"]],
    stepped: ["*/15 2 * * *", "2026-10-03T15:30Z", ["15:30", "15:45"]],
  },
  {
    ...{ timeZone: "Australia/Lord_Howe", from: "2026-04-04T14:00Z", until: "2026-04-04T15:45Z" },
    fixed: ["45 1 * * *", "2026-04-04T14:45Z", ["14:45"]],
    stepped: ["*/15 1 * * *", "2026-04-04T14:15Z", ["14:15", "14:30", "14:45", "15:00", "15:15"]],
  },
];

for (const { timeZone, from, until, fixed, stepped } of edges) {
  test(`Ten workers add one job for each tick in ${timeZone} around ${from}.`, async () => {
    const names = [unique("fixed"), unique("stepped")] as const;
    for (const [place, [pattern, first]] of [fixed, stepped].entries()) {
      await insertSchedule(pool, names[place] ?? "", pattern, first, { timeZone });
    }
    const time = new ManualTime(new Date(Date.parse(from) + 1).toISOString());
    const all = Array.from({ length: WORKERS }, () => runner({ pool, time }));
    await Promise.all(all.map(({ schedules }) => schedules.start(true)));
    for (let ms = Date.parse(from) + 900_000; ms <= Date.parse(until); ms += 900_000) {
      await time.goTo(new Date(ms).toISOString(), WORKERS);
    }
    await time.goTo(new Date(Date.parse(until) + 2_000).toISOString(), WORKERS);
    await Promise.all(all.map(({ schedules }) => schedules.stop()));
    assert.deepEqual(await timesOf(pool, names[0]), fixed[2]);
    assert.deepEqual(await timesOf(pool, names[1]), stepped[2]);
  });
}

test("The next tick of a schedule is computed in its time zone, and is computed again when the time zone changes.", async () => {
  const { makeWorkerUtils } = await import("../../src/utils/worker-utils.ts");
  const utils = await makeWorkerUtils({ pool });
  const hourIn = (date: Date | null, timeZone: string) =>
    date?.toLocaleString("en-GB", { timeZone, hour: "2-digit", minute: "2-digit" });
  const added = await utils.addSchedule("30 4 * * *", "t", { timeZone: "Asia/Kolkata" });
  assert.equal(hourIn(added.nextAt, "Asia/Kolkata"), "04:30");
  const moved = await utils.changeSchedule("t", { timeZone: "America/New_York" });
  assert.equal(hourIn(moved.nextAt, "America/New_York"), "04:30");
  assert.equal((await utils.changeSchedule("t", { timeZone: null })).timeZone, "UTC");
});
