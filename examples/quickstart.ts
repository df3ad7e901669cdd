// The smallest program: a task, a job, and a run of all ready jobs.
//
//   DATABASE_URL=postgres://… node examples/quickstart.ts
import { defineTask, makeWorkerUtils, runOnce } from "pg-job-worker";

const connectionString = process.env.DATABASE_URL ?? "";

const greet = defineTask<{ name: string }>("greet", async ({ name }, { job }) => {
  console.log(`hello ${name} (attempt ${job.attempts})`);
});

await using utils = await makeWorkerUtils({ connectionString });
await utils.migrate();
await utils.addJob(greet, { name: "Ada" }); // the payload has the task's type

await runOnce({ connectionString, tasks: [greet] });
console.log(await utils.countJobs());
