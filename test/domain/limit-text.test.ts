// Rates are parsed from text that a user has typed. Limits are described in words.
import assert from "node:assert/strict";
import { test } from "node:test";
import { limitText, parseRate, rateText } from "../../src/domain/limits/limit-text.ts";

test("A rate is typed as a number and a period, with any usual unit.", () => {
  const typed: [string, number, number][] = [
    ["100/s", 100, 1_000],
    ["300/min", 300, 60_000],
    ["300/m", 300, 60_000],
    ["1000/h", 1_000, 3_600_000],
    ["1,500/hour", 1_500, 3_600_000],
    ["10/250ms", 10, 250],
    ["10 / 250 ms", 10, 250],
    ["5/2s", 5, 2_000],
    ["1/d", 1, 86_400_000],
  ];
  for (const [text, limit, perMs] of typed) {
    assert.deepEqual(parseRate(text), { limit, perMs }, text);
    assert.deepEqual(parseRate(rateText({ limit, perMs })), { limit, perMs }, text);
  }
  for (const wrong of [
    "",
    "100",
    "/s",
    "100/",
    "100/x",
    "-1/s",
    "1.5/s",
    "1/s/s",
    "1,5/s",
    "1/-1s",
  ])
    assert.equal(parseRate(wrong), null, wrong);
  assert.equal(parseRate("1".repeat(10_000)), null);
});

test("The text of a limit contains the task or queue, the numbers, and the period in the largest unit that divides the period.", () => {
  const task = { name: "l", scope: "task", match: "t", concurrency: null, rate: null } as const;
  const rate = (limit: number, perMs: number) => ({ limit, perMs, burst: 1_000 });
  const words: [object, string][] = [
    [{ concurrency: 1 }, "at most 1 job of task t at once"],
    [{ concurrency: 1_000, match: "t*" }, "at most 1,000 jobs of tasks t* at once"],
    [{ concurrency: 2, scope: "queue", match: "q" }, "at most 2 jobs of queue q at once"],
    [
      { rate: rate(5, 3_600_000) },
      "at most 5 jobs of task t in an hour and 1,000 more at once after a quiet time",
    ],
    [
      { rate: rate(5, 250), concurrency: 3, scope: "queue", match: "q/*" },
      "at most 3 jobs of each queue q/* at once, 5 in 250 ms and 1,000 more at once after a quiet time",
    ],
  ];
  for (const [part, text] of words) assert.equal(limitText({ ...task, ...part }), text);
});
