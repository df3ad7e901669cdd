// Recovery is on by default: a heartbeat from a thread of its own, and workers that free the jobs of
// dead ones. Here everything is quicker than usual, so that something is to be seen.
import { defineTask, makeWorkerUtils, type Plugin, run } from "pg-job-worker";

const connectionString = process.env.DATABASE_URL ?? "";
await using utils = await makeWorkerUtils({ connectionString });

const watch: Plugin = {
  name: "watch",
  register(hooks) {
    hooks.on("worker:recovered", ({ jobs }) => console.log(`freed ${jobs} jobs`));
    // A job that must not be freed by a machine: leave it to a person.
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
