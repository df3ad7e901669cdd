// Adds many short jobs in bulk, and runs them with a large local queue and the fast lane, which is off by default.
import { defineTask, makeWorkerUtils, runOnce } from "pg-job-worker";

const connectionString = process.env.DATABASE_URL ?? "";
await using utils = await makeWorkerUtils({ connectionString });
await utils.migrate();
let count = 0;

const tick = defineTask("tick", () => {
  count++;
});

const jobs = Array.from({ length: 5_000 }, (_, n) => ({ task: tick, payload: { n } }));
await utils.addJobs(jobs); // one insert that returns the jobs
await utils.copyJobs(jobs); // a COPY of any number of jobs; returns the number of jobs
await runOnce({
  connectionString,
  tasks: [tick],
  concurrency: 24,
  localQueue: { size: 2_000 },
  fastLane: true,
});
console.log(`ran ${count}, left ${(await utils.countJobs()).total}`);
