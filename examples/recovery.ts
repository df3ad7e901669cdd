// Recovery is on by default: each worker sends heartbeats from a thread, and workers recover the jobs of stale
// workers. The two durations below are shorter than the defaults: 2 s for the interval, 7 s for the threshold.
import { defineTask, makeWorkerUtils, type Plugin, run } from "pg-job-worker";

const connectionString = process.env.DATABASE_URL ?? "";
await using utils = await makeWorkerUtils({ connectionString });
await utils.migrate();

const watch: Plugin = {
  name: "watch",
  register(hooks) {
    hooks.on("worker:recovered", ({ jobs }) => console.log(`recovered ${jobs} jobs`));
    // The jobs of workers whose ids begin with "batch-" are not recovered automatically.
    hooks.intercept("jobRecovery", ({ staleWorkerId }) =>
      staleWorkerId.startsWith("batch-") ? { action: "skip" } : undefined,
    );
  },
};

const noop = defineTask("noop", () => {});
const worker = await run({
  connectionString,
  tasks: [noop],
  plugins: [watch],
  recovery: { heartbeatIntervalMs: 500, thresholdMs: 2_000 },
});
const [alive] = await utils.listActiveWorkers();
console.log(`alive: ${alive?.workerId === worker.id}`);
await worker.stop();
console.log(`workers: ${(await utils.listActiveWorkers()).length}`);
