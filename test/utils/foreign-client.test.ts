// with() accepts clients of drivers other than pg, which serialize parameters and parse results in their own ways.
// These tests check that the operations use only types that all drivers treat alike, so no value depends on the
// driver.
import assert from "node:assert/strict";
import { test } from "node:test";
import { types } from "pg";
import type { Queryable } from "../../src/database/database.ts";
import { makeWorkerUtils, type WorkerUtils } from "../../src/utils/worker-utils.ts";
import { heartbeat, testQueue } from "../queue/queue-database.ts";

const queue = testQueue();

const { BOOL, INT2, INT4, TEXT, VARCHAR, FLOAT8 } = types.builtins;
const VOID = 2278;
const SAFE = new Set<number>([BOOL, INT2, INT4, TEXT, VARCHAR, FLOAT8, VOID]);
// Some drivers convert parameters of these types: they encode a JSON text a second time, for example, or expect a Date.
const TYPED = /\$\d+::(jsonb?|timestamptz|timestamp|date|interval|bytea|boolean\[\])/;

/** A client that rejects statements with parameters or results of types that another driver could convert. */
const strict: Queryable = {
  query: async (config) => {
    assert.doesNotMatch(config.text, TYPED);
    const getTypeParser = (oid: number) => {
      assert.ok(SAFE.has(oid), `the type ${oid} of a column is not safe: ${config.text}`);
      return oid === BOOL
        ? (text: string) => text === "t"
        : oid === TEXT || oid === VARCHAR || oid === VOID
          ? String
          : Number;
    };
    return queue.pool.query({
      text: config.text,
      values: config.values ?? [],
      types: { getTypeParser } as never,
    });
  },
};

const BIG = "9007199254740993";
const payload = { big: 9007199254740993n, text: "é\u0001" };

/** Calls of operations on jobs, queues and workers. `id`: the id of the waiting job with the key `key`. */
const OPERATIONS: Record<string, (utils: WorkerUtils, id: string) => Promise<unknown>> = {
  addJob: (utils) =>
    utils.addJob("t", payload, { queueName: "q", runAt: new Date(), flags: ["f"], jobKey: "k" }),
  "addJob with unsafe_dedupe": (utils) =>
    utils.addJob("t", payload, { jobKey: "key", jobKeyMode: "unsafe_dedupe" }),
  addJobs: (utils) =>
    utils.addJobs([
      {
        identifier: "t",
        payload,
        spec: {
          runAt: "2031-01-01T00:00:00.123456Z",
          flags: ["f"],
          priority: 3,
          maxAttempts: 5,
          queueName: "q",
        },
      },
      { identifier: "u" },
    ]),
  "addJobs with keys": (utils) =>
    utils.addJobs([
      { identifier: "t", payload, spec: { jobKey: "k" } },
      { identifier: "u", spec: { jobKey: "k" } },
      { identifier: "u" },
    ]),
  completeJobs: (utils, id) => utils.completeJobs([id]),
  permanentlyFailJobs: (utils, id) => utils.permanentlyFailJobs([id], "no"),
  rescheduleJobs: (utils, id) =>
    utils.rescheduleJobs([id], { runAt: new Date(), priority: 1, attempts: 0, maxAttempts: 3 }),
  removeJob: (utils) => utils.removeJob("key"),
  getJob: (utils, id) => utils.getJob(id),
  listJobs: (utils) => utils.listJobs({ limit: 5 }),
  "listJobs of a state": (utils) => utils.listJobs({ state: "ready", identifier: "t" } as never),
  countJobs: (utils) => utils.countJobs(),
  listQueues: (utils) => utils.listQueues(),
  listLockedWorkers: (utils) => utils.listLockedWorkers(),
  listActiveWorkers: (utils) => utils.listActiveWorkers(),
  cleanup: (utils) => utils.cleanup(),
  forceUnlockWorkers: (utils) => utils.forceUnlockWorkers(["w"]),
  sweepStaleWorkers: (utils) => utils.sweepStaleWorkers({ dryRun: true }),
  "sweepStaleWorkers in earnest": (utils) => utils.sweepStaleWorkers(),
};

for (const [name, operation] of Object.entries(OPERATIONS)) {
  test(`${name} uses only types of values that every driver serializes and parses in the same way.`, async () => {
    await using own = await makeWorkerUtils({ pool: queue.pool });
    await queue.sql("alter sequence worker.jobs_id_seq1 restart with 9007199254740993");
    const { id } = await own.addJob("t", payload, { queueName: "q", jobKey: "key" });
    assert.equal(id, BIG);
    await heartbeat(queue, "w", { task_identifiers: ["t"] });
    const found = await operation(own.with(strict), id);
    const text = JSON.stringify(found, (_, value) =>
      typeof value === "bigint" ? `${value}n` : value,
    );
    assert.ok(text === undefined || !text.includes("NaN"));
  });
}

test("Stored and returned values are exact.", async () => {
  await using own = await makeWorkerUtils({ pool: queue.pool });
  await queue.sql("alter sequence worker.jobs_id_seq1 restart with 9007199254740993");
  const utils = own.with(strict);
  const job = await utils.addJob("t", payload, {
    flags: ["f"],
    runAt: "2031-01-01T00:00:00.123456Z",
  });
  const stored = {
    id: BIG,
    payloadText: '{"big":9007199254740993,"text":"é\\u0001"}',
    flagsText: '{"f": true}',
    runAtText: "2031-01-01T00:00:00.123456Z",
  };
  assert.partialDeepStrictEqual(
    { ...job, payloadText: job.payloadText, runAtText: job.runAtText },
    stored,
  );
  const [row] = await queue.sql("select payload::text as text from worker._private_jobs");
  assert.deepEqual(row, { text: stored.payloadText });
});

test("with() refuses anything without a query method, with an error that describes a valid client.", async () => {
  const utils = await makeWorkerUtils({ pool: queue.pool });
  for (const client of [undefined, null, {}, { execute() {} }]) {
    assert.throws(() => utils.with(client as never), {
      code: "bad_input",
      message: "client: must be a client of pg, or an object with query({ text, values })",
    });
  }
});
