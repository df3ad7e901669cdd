// A directory of tasks is run by graphile-worker and by `worker run`. In both, the tasks get the same values, and their
// jobs end in the same way.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Logger, run as runStock } from "graphile-worker";
import pg from "pg";
import { filesOf, startRun } from "../../cli/run-harness.ts";
import { migratedDatabase } from "../../support/database.ts";
import { waitUntil } from "../../support/until.ts";

/**
 * The tasks by the names of their files. `look/around` and `leaf` write the values that they get into the table `seen`.
 * For the other tasks, the test compares how their jobs end.
 */
const FILES = {
  "look/around.mjs": `export default async (payload, helpers) => {
    const { job, query, withPgClient, addJob, addJobs, logger, abortSignal, abortPromise } = helpers;
    const shape = (value) => value === null ? "null" : value instanceof Date ? "date" : typeof value;
    const described = Object.fromEntries(
      Object.entries(job).filter(([name]) => name !== "updated_at")
        .map(([name, value]) => [name, shape(value)]));
    logger.info("a sentence", { with: "fields" });
    logger.scope({ label: "mine" }).debug("scoped");
    const added = await addJob("leaf", null, { jobKey: "k", priority: 4, maxAttempts: 2 });
    const many = await addJobs([
      { identifier: "leaf", payload: { n: 1 }, queueName: "other" },
      { identifier: "leaf", payload: { n: 2 }, jobKey: "k2", flags: ["f"], runAt: new Date(0) },
      { identifier: "leaf", payload: null },
    ]);
    many.sort((a, b) => (a.payload.n ?? 3) - (b.payload.n ?? 3)); // graphile-worker returns them in any order
    const one = (await query("select 1 as one")).rows;
    const two = await withPgClient(async (client) => (await client.query("select $1::int as two", [2])).rows);
    const copy = { ...helpers };
    const report = {
      payload, described, one, two,
      job: [job.task_identifier, job.attempts, job.max_attempts, job.priority, job.key, job.flags,
        job.last_error, job.revision, job.is_available],
      json: Object.keys(JSON.parse(JSON.stringify(job))).filter((name) => name !== "updated_at").sort(),
      queue: [await helpers.getQueueName(), await helpers.getQueueName(null),
        await helpers.getQueueName(many[0].job_queue_id)],
      added: [added.task_identifier, added.payload, added.priority, added.max_attempts, added.key, shape(added.run_at)],
      many: many.map((each) => [each.task_identifier, each.payload, each.key, each.flags, shape(each.job_queue_id)]),
      copied: ["job", "addJob", "query", "logger", "abortSignal"].every((name) => copy[name] !== undefined),
      signal: [abortSignal instanceof AbortSignal, abortSignal.aborted, abortPromise instanceof Promise],
    };
    await query("insert into seen values ($1, $2)", ["look/around", report]);
    return "what it returns does not matter";
  };`,
  "leaf.js": `module.exports = async (payload, { query, job }) => {
    await query("insert into seen values ($1, $2)", ["leaf", { payload, priority: job.priority }]);
  };`,
  "batch.cjs": `exports.__esModule = true;
    exports.default = (items) => items.map(async (n) => { if (n > 1) throw new Error("more than one"); });`,
  "fails.mjs": "export default () => { throw new Error('on purpose'); };",
  "program.sh": `#!/bin/sh
    test "$GRAPHILE_WORKER_PAYLOAD_FORMAT $GRAPHILE_WORKER_TASK_IDENTIFIER" = "json program" || exit 1
    test "$GRAPHILE_WORKER_JOB_ATTEMPTS $GRAPHILE_WORKER_JOB_MAX_ATTEMPTS" = "1 25" || exit 2
    test "$(cat)" = '{"payload":{"a":1}}' || exit 3
    case $GRAPHILE_WORKER_JOB_RUN_AT in *T*Z) exit 0;; *) exit 4;; esac
`,
};

interface LeftJob {
  readonly task: string;
  readonly payload: unknown;
  readonly attempts: number;
  readonly error: string | null;
}

async function outcome(
  run: (url: string, directory: string, isDone: () => Promise<boolean>) => Promise<void>,
) {
  const { url } = await migratedDatabase();
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query("create table seen (task text, report jsonb)");
  const jobs: [string, string][] = [
    ["look/around", '{"to":["ada"]}'],
    ["batch", "[1,2,3]"],
    ["fails", "{}"],
    ["program", '{"a":1}'],
  ];
  for (const [task, payload] of jobs) {
    await client.query("select worker.add_job($1, $2::json, queue_name => $3)", [
      task,
      payload,
      task === "look/around" ? "mine" : null,
    ]);
  }
  const left = async () => {
    const { rows } = await client.query<LeftJob>(
      `select task.identifier as task, job.payload, job.attempts,
         split_part(regexp_replace(job.last_error, '^Error: ', ''), E'\\n', 1) as error
       from worker._private_jobs job join worker._private_tasks task on task.id = job.task_id
       where job.locked_at is null order by 1`,
    );
    return rows;
  };
  const isDone = async () => {
    const rows = await left();
    const { rowCount } = await client.query("select from seen");
    return rowCount === 5 && rows.length === 2 && rows.every(({ attempts }) => attempts === 1);
  };
  await run(url, filesOf(FILES), isDone);
  const { rows: seen } = await client.query(
    "select task, report from seen order by 1, report::text",
  );
  const rows = await left();
  await client.end();
  return { seen, left: rows };
}

test("Tasks of a directory get the same values and leave the same jobs as under graphile-worker.", async () => {
  const logger = new Logger(() => () => {});
  const stock = await outcome(async (connectionString, taskDirectory, isDone) => {
    const options = { connectionString, taskDirectory, schema: "worker", logger, crontab: "" };
    const runner = await runStock({ ...options, noHandleSignals: true, pollInterval: 100 });
    await waitUntil("graphile-worker has run all jobs", isDone);
    await runner.stop();
  });
  const ours = await outcome(async (url, directory, isDone) => {
    const run = startRun(["--tasks", directory, "--poll-interval", "100ms"], { DATABASE_URL: url });
    await waitUntil("worker run has run all jobs", isDone);
    run.send("SIGTERM");
    assert.equal((await run.ended).status, 0);
  });
  assert.deepEqual(ours.seen, stock.seen);
  // This library's error for a batch has another text than graphile-worker's.
  const plain = (rows: readonly LeftJob[]) =>
    rows.map(({ task, payload, attempts, error }) => ({
      ...{ task, payload, attempts },
      error: task === "batch" ? null : error,
    }));
  assert.deepEqual(plain(ours.left), plain(stock.left));
  assert.match(ours.left[0]?.error ?? "", /2 of 3 items failed: more than one/);
});
