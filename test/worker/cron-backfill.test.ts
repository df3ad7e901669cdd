// Compares the backfill at the start of a scheduler with the backfill of Graphile Worker. Also tests the timeline
// (cron-timeline.ts), which computes the due ticks.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type pg from "pg";
import { cronEntry, everyMinute } from "../../src/domain/cron/cron-entry.ts";
import { cronSchedule } from "../../src/domain/cron/cron-schedule.ts";
import { parseCrontab } from "../../src/domain/cron/crontab.ts";
import { CATCH_UP_MS, CronTimeline } from "../../src/worker/cron/cron-timeline.ts";
import { randomExpression } from "../domain/cron-random.ts";
import { migratedDatabase } from "../support/database.ts";
import { type Random, random } from "../support/random-calls.ts";
import { testPool } from "../support/test-pool.ts";
import { jobsOf, ManualTime, scheduler } from "./cron-harness.ts";
import { runStock } from "./cron-stock.ts";

const MINUTE_MS = 60_000;

interface LedgerRow {
  readonly identifier: string;
  readonly known_since: string;
  readonly last_execution: string | null;
}

/**
 * Returns random cron entries, and for most of them a row of known_crontabs. The times in the rows are at most a minute
 * in the future.
 */
function randomTimetable(dice: Random): { crontab: string; rows: LedgerRow[] } {
  const nowMs = Date.now();
  const lines: string[] = [];
  const rows: LedgerRow[] = [];
  while (lines.length < 80) {
    const identifier = `task_${lines.length}`;
    const often = `${["*", "*/2", "*/7", "1-40", "0,30"][dice(5)]} * * * *`;
    const expression = dice(3) === 0 ? randomExpression(dice) : often;
    const fill = ["", "?fill=0s", "?fill=59s", "?fill=10m", "?fill=1h1s", "?fill=3h"][dice(6)];
    const line = `${expression} ${identifier} ${fill} {n: ${lines.length}}`;
    try {
      parseCrontab(line);
    } catch {
      continue;
    }
    lines.push(line);
    if (dice(6) === 0) continue;
    const knownMs = nowMs - dice(dice(2) === 0 ? 600_000 : 100_000_000);
    let lastMs = knownMs + dice(nowMs - knownMs + MINUTE_MS);
    if (dice(4) > 0) lastMs -= lastMs % MINUTE_MS;
    rows.push({
      identifier,
      known_since: new Date(knownMs).toISOString(),
      last_execution: dice(3) === 0 ? null : new Date(lastMs).toISOString(),
    });
  }
  return { crontab: lines.join("\n"), rows };
}

async function fillLedger(pool: pg.Pool, rows: readonly LedgerRow[]): Promise<void> {
  await pool.query(
    `insert into worker._private_known_crontabs
     select * from json_populate_recordset(null::worker._private_known_crontabs, $1)`,
    [JSON.stringify(rows)],
  );
}

/**
 * Returns the jobs of ticks before `start`, and all rows of known_crontabs. A `last_execution` at or after `start` is
 * replaced by null.
 */
async function traces(pool: pg.Pool, start: Date) {
  const jobs = (await jobsOf(pool, "task_")).filter(({ run_at }) => Date.parse(run_at) < +start);
  const { rows } = await pool.query<{ identifier: string; known_since: Date; last: Date | null }>(
    `select identifier, known_since, last_execution as last
     from worker._private_known_crontabs order by identifier`,
  );
  const ledger = rows.map(({ identifier, known_since, last }) => {
    return [identifier, known_since.toJSON(), last !== null && last < start ? last.toJSON() : null];
  });
  return { jobs: jobs.map((job) => JSON.stringify(job)).sort(), ledger };
}

describe("The backfill", () => {
  for (const seed of [1, 2, 3]) {
    test(`adds the same jobs as the backfill of Graphile Worker, for timetable ${seed}.`, async () => {
      const { crontab, rows } = randomTimetable(random(seed));
      const [stock, ours] = [await migratedDatabase(), await migratedDatabase()];
      await using stockPool = testPool(stock.url);
      await using ourPool = testPool(ours.url);
      await fillLedger(stockPool.pool, rows);
      await fillLedger(ourPool.pool, rows);

      const runner = runStock(stock.url, { crontab });
      const start = await runner.started;
      await runner.stop();
      const time = new ManualTime(start.toISOString());
      const entries = parseCrontab(crontab);
      const { cron, events } = scheduler({ pool: ourPool.pool, entries, time });
      await cron.start();
      await time.resting();
      await cron.stop();

      const expected = await traces(stockPool.pool, start);
      assert.ok(
        expected.jobs.length > 200,
        `${expected.jobs.length} jobs are too few for this test`,
      );
      assert.deepEqual(await traces(ourPool.pool, start), expected);
      const backfilled = events.filter((event) => event.startsWith("backfilled"));
      assert.equal(backfilled.length, expected.jobs.length);
    });
  }

  test("The jobs of 1,800 missed ticks are added in order, and the job of the next tick after them.", async () => {
    await using own = testPool((await migratedDatabase()).url);
    const time = new ManualTime("2026-01-05T10:00:00.000Z");
    await fillLedger(own.pool, [
      { identifier: "task_m", known_since: "2026-01-01T00:00:00Z", last_execution: null },
    ]);
    const entries = [
      everyMinute("task_m", { fillMs: 30 * 3_600_000 }),
      cronEntry("0 10 * * *", "task_t"),
    ];
    const { cron, events } = scheduler({ pool: own.pool, entries, time });
    await cron.start();
    await time.resting();
    await cron.stop();
    const jobs = events.filter((event) => !event.startsWith("tick"));
    assert.equal(jobs.length, 30 * 60 + 2);
    assert.equal(jobs[0], "backfilled task_m 2026-01-04T04:00:00.000Z");
    // The start is at 10:00. The tick at that time is scheduled, not backfilled.
    assert.deepEqual(jobs.slice(-3), [
      "backfilled task_m 2026-01-05T09:59:00.000Z",
      "scheduled task_m 2026-01-05T10:00:00.000Z",
      "scheduled task_t 2026-01-05T10:00:00.000Z",
    ]);
    const { rows } = await own.pool.query(
      "select count(*)::int as ordered from (select run_at, lag(run_at) over (order by id) as before from worker.jobs where task_identifier = 'task_m') j where before < run_at",
    );
    assert.deepEqual(rows, [{ ordered: 30 * 60 }]);
  });
});

describe("The timeline", () => {
  test("returns the due ticks of all entries in order, and returns each of them again until it is marked as handled.", () => {
    const dice = random(99);
    for (let round = 0; round < 60; round++) {
      const startMs = dice(30_000_000) * MINUTE_MS + dice(MINUTE_MS);
      const entries = Array.from({ length: 1 + dice(5) }, (_, place) => {
        const expression = `${["*", "*/3", "5-9", "17"][dice(4)]} ${["*", "*/2"][dice(2)]} * * *`;
        return cronEntry(expression, `t${place}`, { fillMs: dice(3) * 100 * 60_000 });
      });
      const known = entries.map(({ identifier }) => {
        const knownSinceMs = startMs - dice(300 * MINUTE_MS);
        return { identifier, knownSinceMs, lastExecutionMs: null };
      });
      const timeline = new CronTimeline(entries, known, startMs);
      const given: string[] = [];
      let nowMs = startMs;
      for (let step = 0; step < 20; step++) {
        nowMs += dice(40 * MINUTE_MS);
        const most = 1 + dice(50);
        for (let due = timeline.due(nowMs, most); due.length > 0; ) {
          assert.ok(due.length <= most);
          if (dice(3) > 0) {
            timeline.markHandled(due);
            given.push(...due.map((one) => `${one.tickMs} ${one.entry.identifier}`));
          }
          due = timeline.due(nowMs, most);
        }
        assert.ok(timeline.nextMs > nowMs);
      }
      const expected = entries.flatMap(({ identifier, expression, fillMs }, place) => {
        const schedule = cronSchedule(expression);
        const sinceMs = known[place]?.knownSinceMs ?? 0;
        const ticks: [number, number, string][] = [];
        let atMs = schedule.next(Math.max(startMs - fillMs, sinceMs));
        for (; atMs !== null && atMs <= nowMs; atMs = schedule.next(atMs + 1)) {
          ticks.push([atMs, place, `${atMs} ${identifier}`]);
        }
        return ticks;
      });
      expected.sort(([a, first], [b, second]) => a - b || first - second);
      assert.deepEqual(
        given,
        expected.map(([, , text]) => text),
      );
    }
  });

  test("Ticks older than CATCH_UP_MS plus the entry's backfill period are dropped.", () => {
    const startMs = Date.parse("2026-01-05T10:00:00.001Z");
    const entries = [everyMinute("plain"), everyMinute("fill", { fillMs: 3_600_000 })];
    const timeline = new CronTimeline(entries, [], startMs);
    assert.deepEqual(timeline.dropOverdue(startMs + CATCH_UP_MS), []);
    const lateMs = startMs + 2 * CATCH_UP_MS;
    assert.deepEqual(timeline.dropOverdue(lateMs), entries);
    assert.deepEqual(timeline.dropOverdue(lateMs), []);
    const counts = Map.groupBy(timeline.due(lateMs, 1e6), ({ entry }) => entry.identifier);
    assert.equal(counts.get("plain")?.length, 24 * 60);
    assert.equal(counts.get("fill")?.length, 25 * 60);
  });
});
