// Tests how cron expressions are put into words.
import assert from "node:assert/strict";
import { test } from "node:test";
import { patternInWords } from "../../src/domain/cron/pattern-words.ts";

test("Usual cron expressions are put into words.", () => {
  const cases: readonly (readonly [string, string])[] = [
    ["* * * * *", "every minute"],
    ["*/15 * * * *", "every 15 minutes"],
    ["0 * * * *", "every hour, on the hour"],
    ["5 * * * *", "every hour, at 5 past"],
    ["0 */6 * * *", "every 6 hours, on the hour"],
    ["0 2 * * *", "every day at 02:00"],
    ["30 5 * * 1", "every Monday at 05:30"],
    ["0 9 * * 1-5", "every weekday at 09:00"],
    ["*/5 * * * 7", "every 5 minutes, every Sunday"],
    ["5 0 1 * *", "on the 1st of every month at 00:05"],
    ["5 0 22 * *", "on the 22nd of every month at 00:05"],
    ["5 0 11 * *", "on the 11th of every month at 00:05"],
    ["0 0 24 12 *", "every 24 December at 00:00"],
    ["@daily", "every day at 00:00"],
    ["@hourly", "every hour, on the hour"],
    ["@weekly", "every Sunday at 00:00"],
    ["0 9 * * mon-fri", "every weekday at 09:00"],
    ["0 9 * * MON", "every Monday at 09:00"],
    ["0 0 24 dec *", "every 24 December at 00:00"],
    ["0 2 L * *", "on the last day of every month at 02:00"],
  ];
  for (const [expression, words] of cases) assert.equal(patternInWords(expression), words);
});

test("Unusual and invalid expressions are not put into words.", () => {
  const without = [
    ...["1,2 * * * *", "*/7 * * * *", "0 */5 * * *", "0 2 1 * 1", "0 2 * 1 1", "10-20 * * * *"],
    ...["5-50/5 * * * *", "0 2 15,L * *", "0 2 * jan mon", "@daly"],
    ...["", "* * * *", "61 * * * *", "0 25 * * *", "* * * * * *"],
  ];
  for (const expression of without) assert.equal(patternInWords(expression), null, expression);
});
