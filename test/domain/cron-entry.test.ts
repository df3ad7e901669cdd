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
} from "../../src/domain/cron/cron-entry.ts";
import { parseCrontab } from "../../src/domain/cron/crontab.ts";
import { payloadText, rawJson } from "../../src/domain/payload.ts";
import { defineBatchTask, defineTask } from "../../src/worker/task/task.ts";

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
  test("An entry needs a task and a time; every other field has a default.", () => {
    const entry: CronEntry = {
      identifier: "plain",
      taskIdentifier: "plain",
      expression: "* * * * *",
      payload: {},
      fillMs: 0,
    };
    assert.deepEqual(everyMinute(plain), entry);
    assert.deepEqual(everyMinute("plain"), entry);
    assert.deepEqual(cronEntry("* * * * *", "plain", {}), entry);
    assert.ok(Object.isFrozen(everyMinute(plain)));
  });

  test("An entry accepts every option of a crontab line.", () => {
    const options = {
      identifier: "every",
      payload: { name: "you" },
      fillMs: 2 * 3_600_000,
      queueName: "q",
      maxAttempts: 3,
      priority: -1,
      jobKey: "k",
      jobKeyMode: "preserve_run_at",
    } as const;
    const entry = { ...options, taskIdentifier: "greet" };
    assert.deepEqual(cronEntry("1-3 * * * 7", greet, options), {
      ...entry,
      expression: "1-3 * * * 7",
    });
    assert.equal(everyMinutes(5, lax, { fillMs: 5_400_000 }).fillMs, 5_400_000);
    assert.deepEqual(checkedEntry(cronEntry("1-3 * * * 7", greet, options)).payload, {
      name: "you",
    });
  });

  test("An entry's payload has the type of the task's payload, without the tick's _cron.", () => {
    everyMinute(greet, { payload: { name: "you" } });
    everyMinute(lax);
    everyMinute(lax, { payload: { name: "you" } });
    everyMinute(plain, { payload: { anything: [1] } });
    everyMinute("elsewhere", { payload: { anything: [1] } });
    // @ts-expect-error: the payload is missing
    everyMinute(greet);
    // @ts-expect-error: the payload is missing among the options
    cronEntry("* * * * *", greet, { fillMs: 3_600_000 });
    // @ts-expect-error: the name must be a string
    everyMinutes(5, greet, { payload: { name: 1 } });
    assert.match(
      // @ts-expect-error: a batch needs a list
      problemsOf(() => everyMinute(batch, { payload: {} })),
      /^task: a batch task needs a list/,
    );
  });

  test("everyMinutes() accepts the divisors of 60 except 60 itself, and refuses other numbers.", () => {
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

  test("All problems are reported at once.", () => {
    const wrong = {
      payload: ["list"],
      fillMs: 1.5,
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
        "pattern: has 6 fields; expected 5: minute, hour, day of the month, month, day of the week",
        "payload: must be a JSON object: each tick adds its time to it as _cron",
        "fillMs: must be a whole number, not negative",
        "queueName: must have 1 to 128 characters",
        "maxAttempts: must be a whole number from 1 to 32767",
        "priority: must be a whole number from -32768 to 32767",
        "jobKeyMode: must be one of replace, preserve_run_at",
        'jobkey: unknown field, did you mean "jobKey"?',
      ].join("; "),
    );
    const modeOnly = { jobKeyMode: "replace" } as const;
    assert.match(
      problemsOf(() => everyMinute(plain, modeOnly)),
      /jobKeyMode: needs a jobKey/,
    );
    assert.match(
      problemsOf(() => everyMinute(plain, { fillMs: (366 * 24 + 1) * 3_600_000 })),
      /366 days/,
    );
    assert.match(
      problemsOf(() => everyMinute(plain, { payload: rawJson("[1e999]") })),
      /Infinity/,
    );
  });

  test("An invalid fill window is reported under the name that the caller used.", () => {
    assert.equal(
      problemsOf(() => everyMinute(plain, { fillMs: -1 })),
      "fillMs: must be a whole number, not negative",
    );
    for (const former of ["fill_minutes", "fill_hours"]) {
      assert.equal(
        problemsOf(() => everyMinute(plain, { [former]: 1 } as object)),
        `${former}: unknown field: use fillMs, in milliseconds`,
      );
    }
    assert.match(
      problemsOf(() => parseCrontab("* * * * * task ?fill=-1")),
      /"-1" is not a valid fill; expected a time phrase/,
    );
  });

  test("A payload becomes JSON, or is refused with the place of a value that JSON cannot represent.", () => {
    const unchanged = {
      f: 1n,
      deep: [{ n: -0.5, none: null, yes: true }],
      at: new Date(0),
      u: undefined,
    };
    assert.deepEqual(everyMinute(plain, { payload: unchanged }).payload, {
      f: 1n,
      deep: [{ n: -0.5, none: null, yes: true }],
      at: "1970-01-01T00:00:00.000Z",
    });
    const refused: [object, string][] = [
      [{ n: Number.NaN }, "payload: n is NaN: that is not JSON"],
      [{ a: [1, { n: -Infinity }] }, "payload: a[1].n is -Infinity: that is not JSON"],
      [{ f() {} }, "payload: f is a function: that is not JSON"],
      [{ s: Symbol("s") }, "payload: s is a symbol: that is not JSON"],
      [{ a: [undefined] }, "payload: a[0] is undefined: that is not JSON"],
      [{ m: new Map([[1, 2]]) }, "payload: m is a Map: that is not JSON"],
      [{ s: new Set([1]) }, "payload: s is a Set: that is not JSON"],
    ];
    for (const [payload, message] of refused) {
      assert.equal(
        problemsOf(() => everyMinute(plain, { payload })),
        message,
      );
    }
    const circular: Record<string, unknown> = {};
    circular["self"] = circular;
    assert.match(
      problemsOf(() => everyMinute(plain, { payload: circular })),
      /^payload: Converting circular structure/,
    );
  });

  test("A tick's job has the tick's time, and large integers stay exact.", () => {
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
