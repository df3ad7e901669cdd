import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { parseCronItem } from "graphile-worker";
import { InputError } from "../../src/base/errors.ts";
import { cronSchedule } from "../../src/domain/cron/cron-schedule.ts";
import { type Random, random } from "../support/random-calls.ts";
import { randomExpression } from "./cron-random.ts";

const MINUTE_MS = 60_000;

/** Graphile Worker's matcher for an expression, or null if it refuses it. */
function stockMatcher(expression: string): ((ms: number) => boolean) | null {
  try {
    const { match } = parseCronItem({ task: "t", match: expression });
    return (ms) => {
      const date = new Date(ms);
      return match({
        min: date.getUTCMinutes(),
        hour: date.getUTCHours(),
        date: date.getUTCDate(),
        month: date.getUTCMonth() + 1,
        dow: date.getUTCDay(),
      });
    };
  } catch {
    return null;
  }
}

function ourSchedule(expression: string) {
  try {
    return cronSchedule(expression);
  } catch (error) {
    assert.ok(error instanceof InputError, String(error));
    return null;
  }
}

/** A minute between 1970 and 2100, often at the end of a month or a year. */
function randomMinute(dice: Random): number {
  const ms = dice(68_400_000) * MINUTE_MS;
  if (dice(2) === 0) return ms;
  const date = new Date(ms);
  return (
    Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1) + (dice(2_882) - 1_441) * 60_000
  );
}

const next = (expression: string, from: string) => {
  const ms = cronSchedule(expression).next(Date.parse(from));
  return ms === null ? null : new Date(ms).toISOString().slice(0, 16);
};

function problemsOf(expression: string): string {
  try {
    cronSchedule(expression);
    return "";
  } catch (error) {
    return (error as Error).message;
  }
}

describe("A cron expression", () => {
  test("A cron expression is valid, and matches, exactly as in Graphile Worker.", () => {
    const dice = random(20_260_101);
    let right = 0;
    for (let round = 0; round < 6_000; round++) {
      const expression = randomExpression(dice);
      const stock = stockMatcher(expression);
      const ours = ourSchedule(expression);
      assert.equal(ours === null, stock === null, expression);
      if (ours === null || stock === null) continue;
      right++;
      for (let time = 0; time < 20; time++) {
        const ms = randomMinute(dice);
        assert.equal(ours.next(ms) === ms, stock(ms), `${expression} at ${new Date(ms).toJSON()}`);
      }
    }
    assert.ok(right > 2_000, `only ${right} expressions are valid`);
  });

  test("No match is left out between a time and the next match.", () => {
    const dice = random(7);
    for (let round = 0; round < 300; round++) {
      const expression = randomExpression(dice);
      const stock = stockMatcher(expression);
      if (stock === null) continue;
      let fromMs = randomMinute(dice);
      const found = cronSchedule(expression).next(fromMs) ?? Number.POSITIVE_INFINITY;
      for (let step = 0; step < 3_000 && fromMs < found; step++, fromMs += MINUTE_MS) {
        assert.equal(stock(fromMs), false, `${expression} at ${new Date(fromMs).toJSON()}`);
      }
    }
  });

  test("The next match is at or after the given moment.", () => {
    assert.equal(next("5 * * * *", "2026-01-01T00:05:00.000Z"), "2026-01-01T00:05");
    assert.equal(next("5 * * * *", "2026-01-01T00:05:00.001Z"), "2026-01-01T01:05");
    assert.equal(next("* * * * *", "2026-12-31T23:59:00.001Z"), "2027-01-01T00:00");
  });

  test("Leap days are found across the gap of a century; impossible days are never found.", () => {
    assert.equal(next("0 0 29 2 *", "2096-02-29T00:01:00Z"), "2104-02-29T00:00");
    assert.equal(next("0 0 30 2 *", "2026-01-01T00:00:00Z"), null);
    assert.equal(next("0 0 31 4,6,9,11 *", "2026-01-01T00:00:00Z"), null);
    assert.equal(next("0 0 30 2 1", "2026-01-01T00:00:00Z"), "2026-02-02T00:00");
  });

  test("Sunday is 0 and 7, and of two restricted day fields one match suffices.", () => {
    assert.equal(next("0 0 * * 7", "2026-01-01T00:00:00Z"), "2026-01-04T00:00");
    assert.equal(next("0 0 * * 5-7", "2026-01-04T00:00:00Z"), "2026-01-04T00:00");
    assert.equal(next("0 0 13 * 5", "2026-01-03T00:00:00Z"), "2026-01-09T00:00");
    assert.equal(next("0 0 13 * 0-7", "2026-01-03T00:00:00Z"), "2026-01-13T00:00");
    assert.equal(next("0 0 1-31 * 5", "2026-01-03T00:00:00Z"), "2026-01-09T00:00");
  });

  test("Daylight saving time has no effect: all times are UTC.", () => {
    const schedule = cronSchedule("30 * * * *");
    // In Europe and America the clocks change on these days.
    for (const day of ["2026-03-29", "2026-10-25", "2026-03-08", "2026-11-01"]) {
      let atMs = Date.parse(`${day}T00:00:00Z`);
      for (let hour = 0; hour < 24; hour++) {
        const found = schedule.next(atMs);
        assert.equal(found, Date.parse(`${day}T00:30:00Z`) + hour * 60 * MINUTE_MS);
        atMs = found + 1;
      }
    }
  });

  test("All problems are reported at once, with their columns and what was expected.", () => {
    assert.equal(
      problemsOf("61 1-30/5 0 MON 5-5"),
      [
        "column 1: 61 is not a valid minute (0-59)",
        'column 4: "1-30/5" is not supported: only * takes a step; write the numbers as a list',
        "column 11: 0 is not a valid day of the month (1-31)",
        'column 13: "MON" is not a valid month (names and macros are not supported); expected a number from 1 to 12, a range a-b, * or */n, or a list of these with commas',
        'column 17: the range "5-5" must ascend',
      ].join("; "),
    );
    assert.match(problemsOf("1,,2 * * * *"), /^column 3: the minute is missing; expected a number/);
    assert.match(problemsOf("*/0 * * * *"), /^column 1: the step of "\*\/0" must be at least 1$/);
    assert.equal(
      problemsOf("* * * *"),
      "has 4 fields; expected 5: minute, hour, day of the month, month, day of the week",
    );
    assert.match(problemsOf("* * * * * *"), /^has 6 fields/);
    assert.match(problemsOf("@daily"), /^has 1 fields/);
    assert.match(problemsOf("0-999999999999999 * * * *"), /^column 1: 9+ is not a valid minute/);
  });
});
