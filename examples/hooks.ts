// A plugin. Its observers are notified of events, and its interceptors make decisions about jobs.
import { defineTask, makeWorkerUtils, type Plugin, runOnce } from "pg-job-worker";

const connectionString = process.env.DATABASE_URL ?? "";
await using utils = await makeWorkerUtils({ connectionString });
await utils.migrate();

const policy: Plugin = {
  name: "policy",
  register(hooks) {
    hooks.on("job:success", ({ job, durationMs }) => {
      console.log(`done: ${job.taskIdentifier} in ${durationMs < 1_000 ? "time" : "a while"}`);
    });
    // job:success and job:failed are emitted before the result is written, job:complete after it is committed.
    hooks.on("job:complete", ({ job, result }) => {
      console.log(`written: ${job.taskIdentifier} ${result}`);
    });
    hooks.on("job:failed", ({ job, error }) => {
      console.log(`failed: ${job.taskIdentifier}: ${error.message}`);
    });
    hooks.intercept("beforeJobRun", ({ job, payloadText }) => {
      if (job.flags.includes("dry-run")) return { action: "skip" };
      if (payloadText.length > 100) return { action: "fail", message: "payload too long" };
      return { action: "continue" };
    });
    hooks.intercept("beforeJobSchedule", (job) => ({
      action: "change",
      job: { ...job, payload: { ...(job.payload as object), tenant: "acme" } },
    }));
  },
};

const parent = defineTask("parent", async (_payload, { addJob, utils }) => {
  await addJob(child, { n: 1 });
  // `utils` has the methods that makeWorkerUtils() provides. For jobs added by them, beforeJobSchedule is called, too.
  console.log(`in the queue: ${(await utils.countJobs()).total > 0}`);
});
const child = defineTask<object>("child", async (payload) => {
  console.log(`child got ${JSON.stringify(payload)}`);
});

await utils.addJob(parent);
await utils.addJob(child, { n: 2 }, { flags: ["dry-run"] });
await utils.addJob(child, { text: "x".repeat(200) }, { maxAttempts: 1 });
await runOnce({ connectionString, tasks: [parent, child], plugins: [policy] });
