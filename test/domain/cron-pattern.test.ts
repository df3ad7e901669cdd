// Tests daily() and every(), and which time zones patterns and entries accept.
import assert from "node:assert/strict";
import { test } from "node:test";
import { InputError } from "../../src/base/errors.ts";
import { cronEntry } from "../../src/domain/cron/cron-entry.ts";
import { daily, every } from "../../src/domain/cron/cron-pattern.ts";

function problemOf(work: () => unknown): string {
  try {
    work();
    return "";
  } catch (error) {
    assert.ok(error instanceof InputError, String(error));
    return error.message;
  }
}

test("daily() and every() return a pattern with an expression and an optional time zone, and cronEntry() accepts this pattern.", () => {
  const timeZone = "Europe/Berlin";
  assert.deepEqual(daily("02:30", { timeZone }), { expression: "30 2 * * *", timeZone });
  assert.deepEqual(daily("9:05"), { expression: "5 9 * * *" });
  assert.deepEqual(every({ minutes: 5 }), { expression: "*/5 * * * *" });
  assert.deepEqual(every({ hours: 6 }, { timeZone }), { expression: "0 */6 * * *", timeZone });
  const { expression, timeZone: zone } = cronEntry(daily("23:59", { timeZone }), "t");
  assert.deepEqual([expression, zone], ["59 23 * * *", timeZone]);
  assert.equal(cronEntry("@daily", "t", { timeZone }).timeZone, timeZone);
  assert.equal(cronEntry(every({ minutes: 5 }), "t").timeZone, undefined);
});

test("Invalid times and intervals are refused, and the error lists what is allowed.", () => {
  for (const time of ["24:00", "12:60", "2.30", "02:30:00", "noon", "", null as never]) {
    assert.equal(
      problemOf(() => daily(time)),
      "time: must be a time of the day from 00:00 to 23:59, such as 02:30",
    );
  }
  for (const minutes of [0, -5, 7, 45, 60, 2.5, Number.NaN, "5" as never]) {
    assert.match(
      problemOf(() => every({ minutes })),
      /^minutes: must be 1, 2, 3, 4, 5, 6, 10, 12, 15, 20 or 30, because an hour/,
    );
  }
  assert.match(
    problemOf(() => every({ hours: 24 })),
    /^hours: must be 1, 2, 3, 4, 6, 8 or 12, because a day/,
  );
  for (const interval of [{}, { minutes: 5, hours: 1 }, { seconds: 5 }, 5, null]) {
    assert.equal(
      problemOf(() => every(interval as never)),
      "interval: must have either minutes or hours, such as { minutes: 5 }",
    );
  }
});

test("A time zone is accepted only as a name, and for a misspelled name the error suggests a similar one.", () => {
  const expected = "expected a name such as Europe/Berlin, America/New_York or UTC";
  for (const zone of ["+02:00", "", "Berlin time", "GMT+2", "Local"]) {
    assert.equal(
      problemOf(() => cronEntry("@daily", "t", { timeZone: zone })),
      `timeZone: "${zone}" is not a time zone; ${expected}`,
    );
  }
  assert.equal(
    problemOf(() => daily("02:30", { timeZone: "Europe/Berln" })),
    `timeZone: "Europe/Berln" is not a time zone, did you mean "Europe/Berlin"?; ${expected}`,
  );
  assert.equal(
    problemOf(() => cronEntry("@daily", "t", { timeZone: 5 as never })),
    "timeZone: must be a string",
  );
  for (const former of ["tz", "timezone"]) {
    const options = { [former]: "Europe/Berlin" };
    const message = `${former}: unknown field: use timeZone`;
    assert.equal(
      problemOf(() => cronEntry("@daily", "t", options)),
      message,
    );
    assert.equal(
      problemOf(() => daily("02:30", options)),
      message,
    );
  }
  assert.equal(
    problemOf(() =>
      cronEntry(daily("02:30", { timeZone: "UTC" }), "t", { timeZone: "Europe/Berlin" }),
    ),
    "timeZone: is set twice; set it either in the pattern or in the entry",
  );
});

test("If the time zone is undefined in the pattern or in the entry's options, the other time zone applies.", () => {
  const zone = { timeZone: "Europe/Berlin" };
  const none = { timeZone: undefined };
  assert.equal(cronEntry(daily("02:30", zone), "t", none).timeZone, "Europe/Berlin");
  assert.equal(cronEntry(daily("02:30", none), "t", zone).timeZone, "Europe/Berlin");
});
