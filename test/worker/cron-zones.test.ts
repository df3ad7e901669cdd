// Tests which jobs are added for a timetable in a time zone around a change of the zone's clock.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type pg from "pg";
import { type CronEntry, cronEntry } from "../../src/domain/cron/cron-entry.ts";
import { daily } from "../../src/domain/cron/cron-pattern.ts";
import { parseCrontab } from "../../src/domain/cron/crontab.ts";
import { migratedDatabase } from "../support/database.ts";
import { type TestPool, testPool } from "../support/test-pool.ts";
import { jobsOf, ManualTime, scheduler, unique } from "./cron-harness.ts";

const SCHEDULERS = 10;

let own: TestPool;
let pool: pg.Pool;

before(async () => {
  own = testPool((await migratedDatabase()).url, 10);
  pool = own.pool;
});
after(() => own.close());

interface Edge {
  readonly zone: string;
  /** The change of the clock is between `from` and `until`, both in UTC. */
  readonly from: string;
  readonly until: string;
  /** The ticks, in UTC, of the nightly entry (`fixed`) and of the entry with a step (`stepped`). */
  readonly fixed: readonly string[];
  readonly stepped: readonly string[];
}

/**
 * Each crontab has a nightly entry and an entry with a step, both for the same hour. The change of the clock skips or
 * repeats this hour or half of it.
 */
const edges: readonly (Edge & { readonly crontab: string })[] = [
  {
    ...{ zone: "Europe/Berlin", from: "2026-03-29T00:00Z", until: "2026-03-29T02:00Z" },
    crontab: "30 2 * * * fixed\n*/30 2 * * * stepped",
    ...{ fixed: ["01:00"], stepped: [] },
  },
  {
    ...{ zone: "Europe/Berlin", from: "2026-10-24T23:45Z", until: "2026-10-25T02:15Z" },
    crontab: "30 2 * * * fixed\n*/30 2 * * * stepped",
    ...{ fixed: ["00:30"], stepped: ["00:00", "00:30", "01:00", "01:30"] },
  },
  {
    ...{ zone: "America/New_York", from: "2026-03-08T06:15Z", until: "2026-03-08T08:15Z" },
    crontab: "30 2 * * * fixed\n*/30 2 * * * stepped",
    ...{ fixed: ["07:00"], stepped: [] },
  },
  {
    ...{ zone: "America/New_York", from: "2026-11-01T04:45Z", until: "2026-11-01T07:15Z" },
    crontab: "30 1 * * * fixed\n*/30 1 * * * stepped",
    ...{ fixed: ["05:30"], stepped: ["05:00", "05:30", "06:00", "06:30"] },
  },
  {
    ...{ zone: "Australia/Lord_Howe", from: "2026-10-03T14:45Z", until: "2026-10-03T16:45Z" },
    crontab: "15 2 * * * fixed\n*/15 2 * * * stepped",
    ...{ fixed: ["15:30"], stepped: ["15:30", "15:45"] },
  },
  {
    ...{ zone: "Australia/Lord_Howe", from: "2026-04-04T14:15Z", until: "2026-04-04T15:45Z" },
    crontab: "45 1 * * * fixed\n*/15 1 * * * stepped",
    ...{ fixed: ["14:45"], stepped: ["14:15", "14:30", "14:45", "15:00", "15:15"] },
  },
];

/** Returns the crontab's entries, with a backfill period of three days. Their identifiers begin with `task`. */
function entriesOf(
  { crontab, zone }: { crontab: string; zone: string },
  task: string,
): CronEntry[] {
  const own = crontab.replaceAll(/fixed|stepped/g, (name) => `${task}_${name} ?fill=3d`);
  return parseCrontab(`CRON_TZ=${zone}\n${own}`);
}

/** Returns the entries of entriesOf(), made by functions of the library instead of a crontab. */
function codeOf({ crontab, zone: timeZone }: { crontab: string; zone: string }, task: string) {
  return crontab.split("\n").map((line): CronEntry => {
    const [minute = "", hour = "", , , , name] = line.split(" ");
    const options = { identifier: `${task}_${name}`, fillMs: 3 * 24 * 3_600_000 };
    return minute.startsWith("*")
      ? cronEntry(`${minute} ${hour} * * *`, options.identifier, { ...options, timeZone })
      : cronEntry(daily(`0${hour}:${minute}`, { timeZone }), options.identifier, options);
  });
}

async function ticksOf(task: string): Promise<string[]> {
  return (await jobsOf(pool, task)).map(({ run_at }) => run_at.slice(11, 16));
}

const nextQuarter = (iso: string) => new Date(Date.parse(iso) + 15 * 60_000).toISOString();

describe("A timetable in a time zone", () => {
  for (const edge of edges) {
    const { zone, from, until, fixed, stepped } = edge;
    test(`Ten schedulers, half of them with a crontab, add one job for each tick in ${zone} around ${from}.`, async () => {
      const task = unique("zone");
      const crontab = entriesOf(edge, task);
      const code = codeOf(edge, task);
      const start = new Date(Date.parse(from) + 1).toISOString();
      const time = new ManualTime(start);
      const all = Array.from({ length: SCHEDULERS }, (_, index) =>
        scheduler({ pool, entries: index % 2 === 0 ? crontab : code, time }),
      );
      await Promise.all(all.map(({ cron }) => cron.start()));
      for (let now = from; now < new Date(until).toISOString(); ) {
        now = nextQuarter(now);
        await time.goTo(now, SCHEDULERS);
      }
      await Promise.all(all.map(({ cron }) => cron.stop()));
      assert.deepEqual(await ticksOf(`${task}_fixed`), fixed);
      // The schedulers start a millisecond after `from`, so no job is added for a tick at `from`.
      const after = stepped.filter((tick) => `${from.slice(0, 11)}${tick}Z` !== from);
      assert.deepEqual(await ticksOf(`${task}_stepped`), after);
      const reported = all.flatMap(({ events }) => events.filter((one) => !one.startsWith("tick")));
      assert.equal(reported.length, fixed.length + after.length);
    });

    test(`The backfill adds one job for each tick in ${zone} around ${from}.`, async () => {
      const task = unique("fill");
      const entries = entriesOf(edge, task);
      const identifiers = entries.map(({ identifier }) => identifier);
      await pool.query(
        `insert into worker._private_known_crontabs (identifier, known_since)
         select name, $2::timestamptz from unnest($1::text[]) as name`,
        [identifiers, from],
      );
      const time = new ManualTime(new Date(until).toISOString());
      const { cron, events } = scheduler({ pool, entries, time });
      await cron.start();
      await time.resting();
      await cron.stop();
      assert.deepEqual(await ticksOf(`${task}_fixed`), fixed);
      assert.deepEqual(await ticksOf(`${task}_stepped`), stepped);
      const added = events.filter((one) => one.startsWith("backfilled"));
      assert.equal(added.length, fixed.length + stepped.length);
      // The row of the entry has the time of the last tick in UTC, not by the zone's clock.
      const { rows } = await pool.query<{ last: Date | null }>(
        "select last_execution as last from worker._private_known_crontabs where identifier = $1",
        [`${task}_fixed`],
      );
      assert.equal(rows[0]?.last?.toISOString().slice(11, 16), fixed.at(-1));
    });
  }
});
