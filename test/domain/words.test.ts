// Tests how numbers and times are written in sentences, and how many attempts of a job count as lost because their
// workers did not finish them.
import assert from "node:assert/strict";
import { test } from "node:test";
import { ageText, spanText } from "../../src/domain/portable/ages.ts";
import { cappedValue, estimatedValue, exactValue } from "../../src/domain/value.ts";
import { countText, momentText, numberText, ordinal, shortValue } from "../../src/domain/words.ts";
import {
  type AttemptedJob,
  isPoison as isCrashing,
  lastLostBy,
  lostAttempts,
} from "../../src/insight/read/lost-attempts.ts";

test("Ages have at most two units below ten minutes, and one from there on.", () => {
  const ages: Record<string, number> = {
    "0 s": -5,
    "1 s": 1_999,
    "59 s": 59_999,
    "1 m": 60_000,
    "9 m 59 s": 599_999,
    "10 m": 600_000,
    "59 m": 3_599_000,
    "2 h": 7_790_000,
    "3 d": 3 * 86_400_000 + 4 * 3_600_000,
    "1,000 d": 1_000 * 86_400_000,
  };
  for (const [text, ms] of Object.entries(ages)) assert.equal(ageText(ms), text);
});

test("Durations have at most two units.", () => {
  const lengths: Record<string, number> = {
    "0 s": -5,
    "12 m 30 s": 750_000,
    "1 h 40 m": 6_000_000,
    "2 h": 7_200_000,
    "3 d 4 h": 3 * 86_400_000 + 4 * 3_600_000,
    "10 d": 10 * 86_400_000 + 4 * 3_600_000,
  };
  for (const [text, ms] of Object.entries(lengths)) assert.equal(spanText(ms), text);
});

test("Numbers have commas between thousands, and texts show whether a number is exact.", () => {
  assert.deepEqual(
    [numberText(0), numberText(999), numberText(1_234_567)],
    ["0", "999", "1,234,567"],
  );
  assert.deepEqual([1, 2, 3, 4, 11, 12, 13, 21, 101, 111].map(ordinal), [
    ..."1st 2nd 3rd 4th 11th 12th 13th 21st 101st 111th".split(" "),
  ]);
  assert.equal(countText(exactValue(1, "scan", ""), "job"), "1 job");
  assert.equal(countText(estimatedValue(8_412, 300, "sample", ""), "job"), "≈ 8,400 jobs");
  assert.equal(
    countText(cappedValue(10_000, "probe", ""), "try", "tries"),
    "at least 10,000 tries",
  );
  assert.equal(countText(cappedValue(1, "probe", ""), "job is", "jobs are"), "at least 1 job is");
  assert.equal(countText(0, "job"), "0 jobs");
  assert.equal(numberText(-1_234), "-1,234");
  const short = [exactValue(8_412, "scan", ""), estimatedValue(8_412, 300, "sample", "")];
  assert.deepEqual([...short, cappedValue(10_000, "probe", "")].map(shortValue), [
    ...["8,412", "≈ 8,400", "≥ 10,000"],
  ]);
  assert.equal(momentText(Date.parse("2026-11-22T00:20:00.7Z")), "2026-11-22T00:20:00Z");
});

test("The error of a recovered job names the worker, whose id may be any text.", () => {
  for (const [errorStart, worker] of [
    ["Recovered: worker w 1 stopped without finishing attempt 1", "w 1"],
    ["Recovered 3 times in a row: worker w stopped without finishing attempt 3", "w"],
    ["Recovered: worker w held attempt 2 for more than 04:00:00", "w"],
    ["Error: worker w stopped without finishing attempt 1", null],
  ] as const) {
    assert.equal(lastLostBy({ errorStart }), worker);
  }
});

test("Lost attempts are recognised by the error text that a recovery writes, or by a missing error.", () => {
  const lost = (errorStart: string | null, attempts = 4, isLocked = false, isUnchanged = true) =>
    lostAttempts({ errorStart, attempts, isLocked, isUnchanged });
  assert.equal(lost("Recovered: worker w stopped without finishing attempt 1"), 1);
  assert.equal(lost("Recovered 17 times in a row: worker w stopped"), 17);
  assert.equal(lost("Error: Recovered 17 times in a row: no"), 0);
  assert.deepEqual([lost(null), lost(null, 4, true), lost(null, 0)], [4, 3, 0]);
  assert.equal(
    lost(null, 4, false, false),
    0,
    "attempts that were set by hand are not lost attempts",
  );
  const isPoison = (job: Omit<AttemptedJob, "isUnchanged">) =>
    isCrashing({ ...job, isUnchanged: true });
  assert.equal(
    isPoison({ errorStart: "Recovered 2 times in a row: w", attempts: 4, isLocked: false }),
    true,
  );
  assert.equal(
    isPoison({ errorStart: "Recovered 2 times in a row: w", attempts: 5, isLocked: false }),
    false,
  );
  assert.equal(isPoison({ errorStart: "Recovered: w", attempts: 1, isLocked: false }), false);
});
