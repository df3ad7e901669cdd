import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { parseCronItem } from "graphile-worker";
import { InputError } from "../../src/base/errors.ts";
import { cronSchedule } from "../../src/domain/cron/cron-schedule.ts";
import { type Random, random } from "../support/random-calls.ts";
import { rounds } from "../support/rounds.ts";
import { randomExpression } from "./cron-random.ts";

const MINUTE_MS = 60_000;

/** Returns Graphile Worker's matcher for an expression; null if Graphile Worker refuses the expression. */
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

/** Returns a minute between 1970 and 2100. In half of the calls, the minute is within about a day of a month's end. */
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
  test("Each random expression that Graphile Worker accepts matches the same times here; an expression that only this library accepts has a name, L or a step of a range.", () => {
    const dice = random(20_260_101);
    let right = 0;
    let added = 0;
    for (let round = 0; round < rounds(6_000); round++) {
      const expression = randomExpression(dice);
      const stock = stockMatcher(expression);
      const ours = ourSchedule(expression);
      if (ours !== null && stock === null) {
        assert.match(expression, /[a-z]|\d-\d+\/\d/i);
        added++;
      }
      assert.equal(ours === null && stock !== null, false, expression);
      if (ours === null || stock === null) continue;
      right++;
      for (let time = 0; time < 20; time++) {
        const ms = randomMinute(dice);
        assert.equal(ours.next(ms) === ms, stock(ms), `${expression} at ${new Date(ms).toJSON()}`);
      }
    }
    assert.ok(
      right > rounds(2_000) && added > rounds(10),
      `${right} expressions are valid for both libraries, ${added} only for this library`,
    );
  });

  test("There is no match between the given time and the returned time.", () => {
    const dice = random(7);
    for (let round = 0; round < rounds(300); round++) {
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

  test("The next leap day is found even if it is eight years later, as around 2100; impossible days are never found.", () => {
    assert.equal(next("0 0 29 2 *", "2096-02-29T00:01:00Z"), "2104-02-29T00:00");
    assert.equal(next("0 0 30 2 *", "2026-01-01T00:00:00Z"), null);
    assert.equal(next("0 0 31 4,6,9,11 *", "2026-01-01T00:00:00Z"), null);
    assert.equal(next("0 0 30 2 1", "2026-01-01T00:00:00Z"), "2026-02-02T00:00");
  });

  test("Sunday is 0 or 7; if both day fields are restricted, a day needs to match only one of them.", () => {
    assert.equal(next("0 0 * * 7", "2026-01-01T00:00:00Z"), "2026-01-04T00:00");
    assert.equal(next("0 0 * * 5-7", "2026-01-04T00:00:00Z"), "2026-01-04T00:00");
    assert.equal(next("0 0 13 * 5", "2026-01-03T00:00:00Z"), "2026-01-09T00:00");
    assert.equal(next("0 0 13 * 0-7", "2026-01-03T00:00:00Z"), "2026-01-13T00:00");
    assert.equal(next("0 0 1-31 * 5", "2026-01-03T00:00:00Z"), "2026-01-09T00:00");
  });

  test("Without a time zone, all times are UTC, so daylight saving time has no effect.", () => {
    const schedule = cronSchedule("30 * * * *");
    // On these days the clocks change in Europe or in America.
    for (const day of ["2026-03-29", "2026-10-25", "2026-03-08", "2026-11-01"]) {
      let atMs = Date.parse(`${day}T00:00:00Z`);
      for (let hour = 0; hour < 24; hour++) {
        const found = schedule.next(atMs);
        assert.equal(found, Date.parse(`${day}T00:30:00Z`) + hour * 60 * MINUTE_MS);
        atMs = found + 1;
      }
    }
  });

  test("Names, steps of ranges and macros match the same times as the numbers written out.", () => {
    const same = [
      ["0 0 * jan,DEC *", "0 0 * 1,12 *"],
      ["0 0 * mar-may mon-fri", "0 0 * 3-5 1-5"],
      ["0 0 * * Fri-Sun", "0 0 * * 5-7"],
      ["0 0 * * sun-tue", "0 0 * * 0-2"],
      ["5-50/5 * * * *", "5,10,15,20,25,30,35,40,45,50 * * * *"],
      ["0 8-18/3 * * mon-sun/2", "0 8,11,14,17 * * 1,3,5,7"],
      ["@hourly", "0 * * * *"],
      ["@daily", "0 0 * * *"],
      ["@midnight", "0 0 * * *"],
      ["@weekly", "0 0 * * 0"],
      ["@monthly", "0 0 1 * *"],
      ["@yearly", "0 0 1 1 *"],
      ["@annually", "0 0 1 1 *"],
    ] as const;
    for (const [words, numbers] of same) {
      const [ours, plain] = [cronSchedule(words), cronSchedule(numbers)];
      for (let ms = Date.UTC(2026, 0, 1), round = 0; round < 40; round++) {
        const tick = plain.next(ms);
        assert.equal(ours.next(ms), tick, words);
        ms = (tick ?? 0) + 1;
      }
    }
  });

  test("L is the last day of the month, alone or in a list.", () => {
    assert.equal(next("0 0 L * *", "2028-02-01T00:00:00Z"), "2028-02-29T00:00");
    assert.equal(next("0 0 l 4 *", "2026-01-01T00:00:00Z"), "2026-04-30T00:00");
    assert.equal(next("0 0 15,L * *", "2026-02-16T00:00:00Z"), "2026-02-28T00:00");
    assert.equal(next("0 0 L,31 * *", "2026-04-01T00:00:00Z"), "2026-04-30T00:00");
    assert.equal(next("0 0 L * 1", "2026-02-24T00:00:00Z"), "2026-02-28T00:00");
  });

  test("However long an invalid text is, its error message is short.", () => {
    const long = [
      `${"0,".repeat(500_000)}0 * * * *`,
      `${"9".repeat(501)} * * * *`,
      "* ".repeat(500_000),
      "@".repeat(1_000_000),
    ];
    for (const expression of long) {
      assert.match(problemsOf(expression), /^[^@]{0,20}is longer than [\d,]+ characters$/);
    }
    assert.throws(
      () => cronSchedule("* * * * *", "A".repeat(1_000_000)),
      ({ message }: Error) => message.length < 300 && message.includes("is not a time zone"),
    );
    const every = Array.from({ length: 60 }, (_, minute) => minute).join(",");
    assert.equal(next(`${every} * * * *`, "2026-01-01T00:00:00Z"), "2026-01-01T00:00");
  });

  test("All problems are reported at once, with their columns and what was expected.", () => {
    assert.equal(
      problemsOf("61 1-30/5 0 MON 5-5"),
      [
        "column 1: 61 is not a valid minute (0-59)",
        "column 4: 30 is not a valid hour (0-23)",
        "column 11: 0 is not a valid day of the month (1-31)",
        'column 13: "MON" is not a valid month; expected a number from 1 to 12, a name (jan, feb, mar, apr, may, jun, jul, aug, sep, oct, nov, dec), a range a-b, *, a step */n or a-b/n, or a list of these with commas',
        'column 17: the range "5-5" must ascend',
      ].join("; "),
    );
    assert.match(
      problemsOf("5/5 * * * *"),
      /^column 1: "5\/5" is not supported: only \* and a range a-b take a step$/,
    );
    assert.match(
      problemsOf("* * 5L * *"),
      /^column 5: "5L" is not a valid day of the month; expected a number from 1 to 31, L \(the last day\), a range/,
    );
    for (const part of ["L", "mon#2", "15W", "?", "monday", "fri-mon", "5-1", "1-5/0", "mon-"]) {
      assert.match(problemsOf(`* * * * ${part}`), /^column 9: /, part);
    }
    assert.equal(
      problemsOf("@daly"),
      '"@daly" is not supported, did you mean "@daily"?; expected @hourly, @daily, @midnight, @weekly, @monthly, @yearly, @annually or five fields',
    );
    assert.match(problemsOf("@reboot"), /^"@reboot" is not supported; expected @hourly/);
    assert.match(problemsOf("1,,2 * * * *"), /^column 3: the minute is missing; expected a number/);
    assert.match(problemsOf("*/0 * * * *"), /^column 1: the step of "\*\/0" must be at least 1$/);
    assert.equal(
      problemsOf("* * * *"),
      "has 4 fields; expected 5: minute, hour, day of the month, month, day of the week",
    );
    assert.match(problemsOf("* * * * * *"), /^has 6 fields/);
    assert.match(problemsOf("0-999999999999999 * * * *"), /^column 1: 9+ is not a valid minute/);
  });
});
