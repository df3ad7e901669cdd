import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { InputError } from "../../src/base/errors.ts";
import {
  type CronEntry,
  checkedEntry,
  cronEntry,
  cronJob,
  everyMinute,
  everyMinutes,
} from "../../src/domain/cron-entry.ts";
import { payloadText, rawJson } from "../../src/domain/payload.ts";
import { defineBatchTask, defineTask } from "../../src/worker/task.ts";

const plain = defineTask("plain", () => {});
const greet = defineTask<{ name: string; _cron?: { ts: string } }>("greet", () => {});
const lax = defineTask<{ name?: string }>("lax", () => {});
const batch = defineBatchTask<string>("batch", () => undefined);

function problemsOf(work: () => unknown): string {
  try {
    work();
    return "";
  } catch (error) {
    assert.ok(error instanceof InputError, String(error));
    return error.message;
  }
}

describe("An entry of the timetable", () => {
  test("It needs a task and a time, and has a default for the rest.", () => {
    const entry: CronEntry = {
      identifier: "plain",
      taskIdentifier: "plain",
      expression: "* * * * *",
      payload: {},
      fill_ms: 0,
    };
    assert.deepEqual(everyMinute(plain), entry);
    assert.deepEqual(everyMinute("plain"), entry);
    assert.deepEqual(cronEntry("* * * * *", "plain", {}), entry);
    assert.ok(Object.isFrozen(everyMinute(plain)));
  });

  test("It takes all that a crontab line can say.", () => {
    const options = {
      identifier: "every",
      payload: { name: "you" },
      fill_hours: 2,
      queueName: "q",
      maxAttempts: 3,
      priority: -1,
      jobKey: "k",
      jobKeyMode: "preserve_run_at",
    } as const;
    const { fill_hours: _, ...rest } = options;
    const entry = { ...rest, taskIdentifier: "greet", fill_ms: 7_200_000 };
    assert.deepEqual(cronEntry("1-3 * * * 7", greet, options), {
      ...entry,
      expression: "1-3 * * * 7",
    });
    assert.equal(everyMinutes(5, lax, { fill_minutes: 90 }).fill_ms, 5_400_000);
    assert.deepEqual(checkedEntry(cronEntry("1-3 * * * 7", greet, options)).payload, {
      name: "you",
    });
  });

  test("Its payload has the type of the task's, without what the tick adds.", () => {
    everyMinute(greet, { payload: { name: "you" } });
    everyMinute(lax);
    everyMinute(lax, { payload: { name: "you" } });
    everyMinute(plain, { payload: { anything: [1] } });
    everyMinute("elsewhere", { payload: { anything: [1] } });
    // @ts-expect-error: a name is required
    everyMinute(greet);
    // @ts-expect-error: so it is in the options
    cronEntry("* * * * *", greet, { fill_hours: 1 });
    // @ts-expect-error: and it is text
    everyMinutes(5, greet, { payload: { name: 1 } });
    assert.match(
      // @ts-expect-error: a batch has a list
      problemsOf(() => everyMinute(batch, { payload: {} })),
      /^task: a batch task needs a list/,
    );
  });

  test("Every N minutes comes out even over the hour, or is refused.", () => {
    const even = [1, 2, 3, 4, 5, 6, 10, 12, 15, 20, 30];
    for (const minutes of even) {
      assert.equal(everyMinutes(minutes, plain).expression, `*/${minutes} * * * *`);
    }
    for (const minutes of [0, -5, 7, 45, 60, 120, 2.5, Number.NaN, "5" as unknown as number]) {
      assert.match(
        problemsOf(() => everyMinutes(minutes, plain)),
        /^minutes: must be 1, 2, 3/,
      );
    }
  });

  test("All that is wrong with it is said at once.", () => {
    const wrong = {
      payload: ["list"],
      fill_minutes: 1.5,
      queueName: "",
      maxAttempts: 0,
      priority: 40_000,
      jobKeyMode: "unsafe_dedupe",
      jobkey: "k",
    } as object;
    assert.equal(
      problemsOf(() => cronEntry("99 * * * * *", "", wrong)),
      [
        "identifier: must have 1 to 512 characters",
        "taskIdentifier: must have 1 to 128 characters",
        "expression: has 6 fields; expected 5: minute, hour, day of the month, month, day of the week",
        "payload: must be a JSON object: each tick adds its time to it as _cron",
        "queueName: must have 1 to 128 characters",
        "maxAttempts: must be a whole number from 1 to 32767",
        "priority: must be a whole number from -32768 to 32767",
        "jobKeyMode: must be one of replace, preserve_run_at",
        'jobkey: unknown field, did you mean "jobKey"?',
      ].join("; "),
    );
    const both = { fill_minutes: 1, fill_hours: 1 };
    assert.match(
      problemsOf(() => everyMinute(plain, both)),
      /not both/,
    );
    const modeOnly = { jobKeyMode: "replace" } as const;
    assert.match(
      problemsOf(() => everyMinute(plain, modeOnly)),
      /jobKeyMode: needs a jobKey/,
    );
    assert.match(
      problemsOf(() => everyMinute(plain, { fill_hours: 366 * 24 + 1 })),
      /366 days/,
    );
    const hostile = { payload: { f: () => {}, n: Number.NaN, u: undefined } };
    assert.deepEqual(everyMinute(plain, hostile).payload, { n: null });
    assert.match(
      problemsOf(() => everyMinute(plain, { payload: rawJson("[1e999]") })),
      /Infinity/,
    );
  });

  test("A tick's job says when, and keeps large integers exact.", () => {
    const payload = rawJson('{"id": 9007199254740993, "_cron": 1}');
    const entry = everyMinute("task", { identifier: "id", payload, jobKey: "k", priority: 3 });
    const job = cronJob(entry, Date.UTC(2026, 0, 2, 3, 4), true);
    const { spec, identifier } = job;
    assert.equal(identifier, "task");
    assert.equal(
      payloadText(job.payload),
      '{"id":9007199254740993,"_cron":{"ts":"2026-01-02T03:04:00.000Z","backfilled":true}}',
    );
    assert.equal(spec?.runAt, "2026-01-02T03:04:00.000Z");
    assert.equal(spec?.jobKey, "k");
    assert.equal(spec?.priority, 3);
    assert.deepEqual(everyMinute("task", { payload: { n: 2n ** 60n } }).payload, { n: 2n ** 60n });
  });
});
