// Tests of a worker's timetable: its options are checked, its crontab file is read at the start, and its jobs run.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import type pg from "pg";
import { InputError } from "../../src/base/errors.ts";
import { type CronEntry, everyMinute, everyMinutes } from "../../src/domain/cron/cron-entry.ts";
import { type CronOptions, resolveCronOptions } from "../../src/worker/options/cron-options.ts";
import { defineTask } from "../../src/worker/task/task.ts";
import { Worker } from "../../src/worker/worker.ts";
import { migratedDatabase } from "../support/database.ts";
import { type TestPool, testPool } from "../support/test-pool.ts";
import { recorder } from "./worker-queue.ts";

const folder = mkdtempSync(join(tmpdir(), "cron-"));
let own: TestPool;
let pool: pg.Pool;

before(async () => {
  own = testPool((await migratedDatabase()).url, 10);
  pool = own.pool;
});
after(async () => {
  rmSync(folder, { recursive: true });
  await own.close();
});

function file(text: string): string {
  const path = join(folder, `crontab${Math.random()}`);
  writeFileSync(path, text);
  return path;
}

function problemsOf(options: unknown): readonly string[] {
  try {
    resolveCronOptions(options as CronOptions);
    return [];
  } catch (error) {
    assert.ok(error instanceof InputError, String(error));
    return error.problems.map(({ path, message }) => `${path}: ${message}`);
  }
}

const nothing = defineTask("nothing", () => {});

/**
 * Stores that the last tick of a cron entry was ten minutes ago. If a worker's entry with this identifier has a
 * backfill period, the worker adds the missed jobs when it starts.
 */
async function missed(identifier: string): Promise<void> {
  await pool.query(
    `insert into worker._private_known_crontabs (identifier, known_since, last_execution)
     values ($1, now() - interval '1 day', now() - interval '10 minutes')`,
    [identifier],
  );
}

describe("The options of a timetable", () => {
  test("Entries and a crontab make one timetable; without any entry and without a crontab file there is no timetable.", () => {
    const config = resolveCronOptions({
      entries: [everyMinute("a")],
      crontab: "* * * * * b\n0 0 * * * c",
    });
    assert.deepEqual(
      config?.entries.map(({ identifier }) => identifier),
      ["a", "b", "c"],
    );
    assert.equal(resolveCronOptions(undefined), null);
    assert.equal(resolveCronOptions({}), null);
    assert.equal(resolveCronOptions({ crontab: "# nothing yet\n", entries: [] }), null);
    assert.notEqual(resolveCronOptions({ crontabFile: "later" }), null);
  });

  test("All problems are reported at once, with their places.", () => {
    const broken = { ...everyMinute("a"), expression: "61 * * * *", priority: 1e9 };
    assert.deepEqual(
      problemsOf({
        entries: [broken, { ...everyMinute("b"), typo: 1 } as CronEntry],
        crontab: "x",
      }),
      [
        "cron.entries[0].pattern: column 1: 61 is not a valid minute (0-59)",
        "cron.entries[0].priority: must be a whole number from -32768 to 32767",
        "cron.entries[1].typo: unknown field",
        'cron.crontab, line 1, column 1: "x" is not a valid minute; expected a number from 0 to 59, a range a-b, *, a step */n or a-b/n, or a list of these with commas',
        "cron.crontab, line 1, column 2: the line ends too early: the hour is missing",
      ],
    );
    assert.deepEqual(problemsOf({ entires: [] }), [
      'cron.entires: unknown field, did you mean "entries"?',
    ]);
    assert.deepEqual(problemsOf({ entries: "x", crontab: 1, crontabFile: "" }), [
      "cron.entries: must be a list of entries",
      "cron.crontab: must be a string",
      "cron.crontabFile: must be a path",
    ]);
    assert.deepEqual(problemsOf({ entries: [everyMinute("a")], crontab: "* * * * * a" }), [
      'cron: more than one entry has the identifier "a"; set different ones with identifier or ?id=…',
    ]);
    assert.throws(
      () => new Worker({ tasks: [nothing], pool, cron: { crontab: "* * * * * *" } }),
      InputError,
    );
  });
});

describe("A worker with a timetable", () => {
  test("runs its cron jobs, whose payloads have the time of the tick.", async () => {
    const seen: unknown[] = [];
    const done = Promise.withResolvers<void>();
    const ticks: unknown[] = [];
    await missed("told");
    const task = defineTask<{ to: string }>("told", (payload) => {
      seen.push(payload);
      if (seen.length === 2) done.resolve();
    });
    const { lines, logger } = recorder();
    const worker = new Worker({
      tasks: [task],
      pool,
      logger,
      cron: { entries: [everyMinute(task, { payload: { to: "me" }, fillMs: 120_000 })] },
    });
    worker.hooks.on("cron:scheduled", ({ identifier, backfilled }) => {
      ticks.push([identifier, backfilled]);
    });
    await worker.start();
    await done.promise;
    await worker.stop();
    for (const payload of seen.slice(0, 2) as { to: string; _cron: Record<string, unknown> }[]) {
      assert.equal(payload.to, "me");
      assert.equal(payload._cron["backfilled"], true);
      assert.match(String(payload._cron["ts"]), /^\d{4}-\d\d-\d\dT\d\d:\d\d:00\.000Z$/);
    }
    assert.deepEqual(ticks.slice(0, 2), [
      ["told", true],
      ["told", true],
    ]);
    assert.deepEqual(
      lines.filter(({ level }) => level === "warn" || level === "error"),
      [],
    );
  });

  test("reads its crontab file at the start, and logs a warning for a task that it does not have.", async () => {
    await missed("elsewhere");
    const { lines, logger } = recorder();
    const crontabFile = file("# a file\n* * * * * elsewhere ?fill=3m {a: 1}\n0 0 1 1 * nothing");
    const entries = [everyMinutes(30, nothing, { identifier: "half" })];
    const worker = new Worker({ tasks: [nothing], pool, logger, cron: { crontabFile, entries } });
    const scheduled = Promise.withResolvers<void>();
    worker.hooks.on("cron:scheduled", ({ identifier }) => {
      if (identifier === "elsewhere") scheduled.resolve();
    });
    await worker.start();
    await scheduled.promise;
    await worker.stop();
    const warnings = lines.filter(({ level }) => level === "warn");
    assert.deepEqual(
      warnings.map(({ fields }) => fields),
      [{ tasks: ["elsewhere"] }],
    );
    const { rows } = await pool.query(
      "select distinct payload->>'a' as a from worker._private_jobs join worker._private_tasks t on t.id = task_id where identifier = 'elsewhere'",
    );
    assert.deepEqual(rows, [{ a: "1" }]);
  });

  test("If the crontab file is missing or invalid, or two entries have the same identifier, start() rejects and stores no entry.", async () => {
    const entries = [everyMinute("never")];
    const start = (crontabFile: string) =>
      new Worker({ tasks: [nothing], pool, cron: { entries, crontabFile } }).start();
    const missing = join(folder, "missing");
    await assert.rejects(start(missing), {
      code: "configuration",
      message: /^cannot read the crontab file \(ENOENT.*missing'\); check cron\.crontabFile$/,
    });
    const wrong = file("\n * * * * 8 task\n* * * * * never\n* * * * *");
    await assert.rejects(start(wrong), {
      code: "bad_input",
      message: `${wrong}, line 2, column 10: 8 is not a valid day of the week (0-6); ${wrong}, line 4, column 10: the line ends too early: the task identifier is missing`,
    });
    const twice = file("* * * * * never");
    await assert.rejects(start(twice), {
      message: /^.*: more than one entry has the identifier "never"/,
    });
    const { rows } = await pool.query(
      "select from worker._private_known_crontabs where identifier = 'never'",
    );
    assert.equal(rows.length, 0);
  });
});
