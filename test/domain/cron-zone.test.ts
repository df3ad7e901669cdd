// Tests cron expressions in time zones, above all on days on which the clock of the zone changes.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { canonicalField } from "../../src/domain/cron/cron-fields.ts";
import { cronSchedule } from "../../src/domain/cron/cron-schedule.ts";
import { timeInZone } from "../../src/domain/cron/time-zone.ts";
import { random } from "../support/random-calls.ts";
import { members, rounds } from "../support/rounds.ts";

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

/** Returns the ticks in the 36 hours from `from` on, as local times with the UTC offset, without the year. */
function ticks(expression: string, timeZone: string, from: string): string[] {
  const schedule = cronSchedule(expression, timeZone);
  const fromMs = Date.parse(from);
  const found: string[] = [];
  for (let ms = schedule.next(fromMs); ms !== null && ms < fromMs + 1.5 * DAY_MS; ) {
    found.push(timeInZone(ms, timeZone).slice(5));
    ms = schedule.next(ms + 1);
  }
  return found;
}

/** Zones whose clocks change, each with a moment two or three hours before a change. */
const edges = [
  ["Europe/Berlin", "2026-03-28T23:00Z"],
  ["Europe/Berlin", "2026-10-24T22:00Z"],
  ["America/New_York", "2026-03-08T05:00Z"],
  ["America/New_York", "2026-11-01T04:00Z"],
  // The clock of Lord Howe Island changes by half an hour.
  ["Australia/Lord_Howe", "2026-10-03T13:30Z"],
  ["Australia/Lord_Howe", "2026-04-04T13:00Z"],
  // The clock of Cairo changes at midnight.
  ["Africa/Cairo", "2026-04-23T20:00Z"],
  ["Africa/Cairo", "2026-10-29T19:00Z"],
] as const;

/**
 * Returns the zone's local time at each minute of the two days from `fromMs` on. Each local time is given in
 * milliseconds since 1970, as if it were a time in UTC.
 */
function wallClock(timeZone: string, fromMs: number): number[] {
  return Array.from({ length: 2 * 24 * 60 }, (_, minute) => {
    return Date.parse(`${timeInZone(fromMs + minute * MINUTE_MS, timeZone).slice(0, 19)}Z`);
  });
}

/**
 * Returns the ticks in the two days from `fromMs` on, without cronSchedule(): compares the expression with the local
 * time at each minute. `walls`: these local times, from wallClock().
 */
function naiveTicks(expression: string, walls: readonly number[], fromMs: number): number[] {
  const [minutes, hours] = expression.split(" ").map((text, place) => {
    const result = canonicalField(place, text);
    assert.ok("field" in result, text);
    return result.field === "*" ? null : result.field.split(",").map(Number);
  });
  const matches = (wall: number) => {
    const date = new Date(wall);
    const isMinute = minutes?.includes(date.getUTCMinutes()) ?? true;
    return isMinute && (hours?.includes(date.getUTCHours()) ?? true);
  };
  const isFixed = !/[*/]/.test(expression.split(" ").slice(0, 2).join("")) && minutes && hours;
  const seen = new Set<number>();
  return walls.flatMap((wall, minute) => {
    let isTick = matches(wall) && !(isFixed && seen.has(wall));
    seen.add(wall);
    // A fixed time that the clock skips has its tick at the first minute after the skipped time.
    const before = walls[minute - 1] ?? wall - MINUTE_MS;
    for (let lost = before + MINUTE_MS; isFixed && lost < wall; lost += MINUTE_MS) {
      isTick ||= matches(lost);
    }
    return isTick ? [fromMs + minute * MINUTE_MS] : [];
  });
}

describe("A cron expression in a time zone", () => {
  test("A fixed time has one tick a day. If the clock repeats the time, the first occurrence has the tick. If the clock skips the time, the tick is at the end of the gap.", () => {
    const autumn = "2026-10-24T22:00Z";
    const spring = "2026-03-28T23:00Z";
    assert.deepEqual(ticks("30 2 * * *", "Europe/Berlin", autumn), [
      "10-25T02:30:00+02:00",
      "10-26T02:30:00+01:00",
    ]);
    assert.deepEqual(ticks("30 2 * * *", "Europe/Berlin", spring), [
      "03-29T03:00:00+02:00",
      "03-30T02:30:00+02:00",
    ]);
    assert.deepEqual(ticks("30 2,14 * * *", "Europe/Berlin", spring), [
      "03-29T03:00:00+02:00",
      "03-29T14:30:00+02:00",
      "03-30T02:30:00+02:00",
    ]);
    assert.deepEqual(ticks("0,30 2 * * *", "Europe/Berlin", autumn).slice(0, 2), [
      "10-25T02:00:00+02:00",
      "10-25T02:30:00+02:00",
    ]);
    assert.deepEqual(ticks("@daily", "Africa/Cairo", "2026-04-23T20:00Z"), [
      "04-24T01:00:00+03:00",
      "04-25T00:00:00+03:00",
    ]);
  });

  test("An expression with a step or * has ticks in both passes of a repeated hour, and no ticks in a skipped hour.", () => {
    const day = ticks("*/30 2 * * *", "Europe/Berlin", "2026-10-24T22:00Z");
    assert.deepEqual(day.slice(0, 4), [
      "10-25T02:00:00+02:00",
      "10-25T02:30:00+02:00",
      "10-25T02:00:00+01:00",
      "10-25T02:30:00+01:00",
    ]);
    const spring = ticks("*/30 2 * * *", "Europe/Berlin", "2026-03-28T23:00Z");
    assert.deepEqual(spring, ["03-30T02:00:00+02:00", "03-30T02:30:00+02:00"]);
    const hourly = cronSchedule("@hourly", "America/New_York");
    let ms = Date.parse("2026-10-31T00:00Z");
    for (let hour = 0; hour < 72; hour++) {
      assert.equal(hourly.next(ms), ms);
      ms += 60 * MINUTE_MS;
      assert.equal(hourly.next(ms - 1), ms);
    }
  });

  test("Around each clock change, next() returns the tick that a search minute by minute finds.", () => {
    const dice = random(11);
    const lists = (most: number) => [
      `${dice(most)}`,
      `${dice(most)},${dice(most)}`,
      `0-${dice(3) + 1}`,
    ];
    for (const [zone, from] of members(edges, edges.slice(3, 7))) {
      const fromMs = Date.parse(from);
      const walls = wallClock(zone, fromMs);
      for (let round = 0; round < rounds(12); round++) {
        const minute = ["*/15", "*", "30", "0", ...lists(60)][dice(7)] ?? "";
        const hour = ["*", "*/2", "2", "0", "1", ...lists(4)][dice(8)] ?? "";
        const expression = `${minute} ${hour} * * *`;
        const expected = naiveTicks(expression, walls, fromMs);
        const schedule = cronSchedule(expression, zone);
        for (let step = 0; step < 20; step++) {
          const atMs = fromMs + dice(2 * DAY_MS - 1);
          const first = expected.find((ms) => ms >= atMs);
          if (first === undefined) continue;
          const place = `${expression} ${zone} from ${new Date(atMs).toJSON()}`;
          assert.equal(schedule.next(atMs), first, place);
        }
      }
    }
  });

  test("L matches the last day of each month by the zone's calendar.", () => {
    const schedule = cronSchedule("0 0 L * *", "Asia/Tokyo");
    let ms = Date.parse("2027-12-15T00:00Z");
    const days: string[] = [];
    for (let month = 0; month < 5; month++) {
      ms = (schedule.next(ms) ?? 0) + 1;
      days.push(timeInZone(ms, "Asia/Tokyo").slice(0, 16));
    }
    const last = ["2027-12-31", "2028-01-31", "2028-02-29", "2028-03-31", "2028-04-30"];
    assert.deepEqual(
      days,
      last.map((day) => `${day}T00:00`),
    );
  });

  test("The time zone UTC is the same as no time zone.", () => {
    const [named, plain] = [
      cronSchedule("5-50/15 * * * *", "UTC"),
      cronSchedule("5-50/15 * * * *"),
    ];
    for (let ms = Date.parse("2026-03-29T00:00Z"), round = 0; round < 50; round++) {
      const tick = named.next(ms);
      assert.equal(tick, plain.next(ms));
      ms = (tick ?? 0) + 1;
    }
  });
});
