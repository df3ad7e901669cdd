// A worker with a concurrency and with timeouts, which is stopped gracefully: here by stop(), otherwise by SIGTERM or
// SIGINT. A second signal, or the end of stopTimeoutMs, aborts the `signal` of running jobs. A job that ignores the
// abort is unlocked abortGraceMs later, and its attempt counts as failed.
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

await worker.stop(); // running jobs end, their results are written
console.log(`left: ${(await utils.countJobs()).total}`);
await utils.end();
