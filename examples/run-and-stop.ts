// A worker that runs at most four jobs at once, with time limits for its jobs and for its stop. This example stops the
// worker with stop(). SIGTERM and SIGINT stop it in the same way. A stop waits for running jobs. After stopTimeoutMs,
// or at a second SIGTERM or SIGINT, the `signal` of the jobs that still run aborts. A job that ignores the abort is
// unlocked abortGraceMs later, and its attempt counts as failed.
import { setTimeout } from "node:timers/promises";
import { defineTask, makeWorkerUtils, run } from "pg-job-worker";

const connectionString = process.env.DATABASE_URL ?? "";
const utils = await makeWorkerUtils({ connectionString });
await utils.migrate();
const done = Promise.withResolvers<void>();

const slow = defineTask<{ ms: number }>(
  "slow",
  async ({ ms }, { signal, logger }) => {
    await setTimeout(ms, undefined, { signal });
    logger.info({ ms }, "slept");
    console.log(`slept ${ms} ms`);
    done.resolve();
  },
  { timeoutMs: 5_000 },
);

const worker = await run({
  connectionString,
  tasks: [slow],
  concurrency: 4,
  stopTimeoutMs: 25_000,
  abortGraceMs: 5_000,
});
await utils.addJob(slow, { ms: 20 });
await done.promise;

await worker.stop(); // waits for running jobs, and writes their results
console.log(`left: ${(await utils.countJobs()).total}`);
await utils.end();
