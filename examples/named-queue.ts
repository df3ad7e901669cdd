// A named queue: its jobs run one at a time and in order, on any host. Other jobs run in parallel.
import { defineTask, makeWorkerUtils, runOnce } from "pg-job-worker";

const connectionString = process.env.DATABASE_URL ?? "";
await using utils = await makeWorkerUtils({ connectionString });
await utils.migrate();
const order: number[] = [];

const apply = defineTask<{ step: number }>("apply", async ({ step }) => {
  order.push(step);
});

await utils.addJobs(
  [1, 2, 3, 4, 5].map((step) => ({
    task: apply,
    payload: { step },
    spec: { queueName: "account:7" },
  })),
);
await runOnce({ connectionString, tasks: [apply], concurrency: 8 });
console.log(`in order: ${order.join(" ")}`);
