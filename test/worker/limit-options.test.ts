// Tests the option `limits` of a worker. When the worker starts, it creates the limits of this option that are missing.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Logger } from "../../src/base/logger.ts";
import { makeWorkerUtils } from "../../src/index.ts";
import { run } from "../../src/worker/run.ts";
import { migratedDatabase } from "../support/database.ts";
import { recordingTask } from "./worker-queue.ts";

const tasks = [recordingTask("t")];
const stripe = { name: "stripe", task: "t", concurrency: 10 };

/** Returns a logger, and the list of the warnings and errors that it logs. */
function collecting() {
  const warnings: { fields: Record<string, unknown>; message: string }[] = [];
  const log = (fields: object, message: string) =>
    void warnings.push({ fields: { ...fields }, message });
  const none = () => {};
  return { warnings, logger: { debug: none, info: none, warn: log, error: log } as Logger };
}

test("A worker that starts creates missing limits, keeps existing limits, and logs a warning if one differs from its options.", async () => {
  const { url } = await migratedDatabase("worker", ["limits"]);
  const { warnings, logger } = collecting();
  const options = { tasks, connectionString: url, logger, handleSignals: false } as const;
  const limits = [stripe, { name: "mail", queue: "mail/*", rate: { limit: 5, perMs: 1_000 } }];
  const starts = [run({ ...options, limits }), run({ ...options, limits })];
  for (const worker of await Promise.all(starts)) await worker.stop();
  await using utils = await makeWorkerUtils({ connectionString: url });
  const [mail, first] = await utils.listLimits();
  assert.deepEqual(
    [mail?.queue, mail?.rate, mail?.isFromCode],
    ["mail/*", { limit: 5, perMs: 1_000, burst: 1 }, true],
  );
  assert.deepEqual([first?.concurrency, first?.revision, first?.isFromCode], [10, 1, true]);
  assert.deepEqual(warnings, []);

  await utils.setLimit({ ...stripe, concurrency: 3 });
  await (await run({ ...options, limits })).stop();
  assert.deepEqual(warnings, [
    {
      fields: {
        limit: "stripe",
        option: "at most 10 jobs of task t at once",
        stored: "at most 3 jobs of task t at once",
      },
      message:
        "a stored limit differs from the one in this worker's options: the stored one applies and stays",
    },
  ]);
  const after = await utils.getLimit("stripe");
  assert.deepEqual([after.concurrency, after.isFromCode], [3, false]);
});

test("Without the tables of limits, a worker with limits does not start, and a worker without limits does.", async () => {
  const { url } = await migratedDatabase("worker");
  const options = { tasks, connectionString: url, logger: "silent", handleSignals: false } as const;
  for (const migrate of ["if-missing", "always"] as const) {
    await assert.rejects(run({ ...options, migrate, limits: [stripe] }), {
      code: "extension_missing",
      message: /^the option limits needs tables.*"worker migrate --with limits" adds them$/,
    });
  }
  await (await run({ ...options, limits: [] })).stop();
});

test("Invalid limits are reported with their positions in the list, together with other invalid options.", async () => {
  const invalid = run({
    ...{ tasks, connectionString: "postgres://localhost", concurrency: 0 },
    limits: [
      { name: "a", task: "t" },
      { name: "b", concurrency: 1 },
    ],
  });
  await assert.rejects(invalid, (error: Error) => {
    for (const one of [
      /concurrency/,
      /limits\[0\].*needs concurrency/,
      /limits\[1\].*needs either/,
    ])
      assert.match(error.message, one);
    return true;
  });
  const twice = run({ tasks, connectionString: "postgres://localhost", limits: [stripe, stripe] });
  await assert.rejects(twice, /limits: must have limits of different names/);
});
