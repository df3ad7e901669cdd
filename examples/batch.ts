// A batch task: one job with many items. Failed items stay in the job for the next attempt; the others are removed.
// Adding with the same job key appends items to a waiting job.
import { defineBatchTask, makeWorkerUtils, runOnce } from "pg-job-worker";

const connectionString = process.env.DATABASE_URL ?? "";
await using utils = await makeWorkerUtils({ connectionString });
await utils.migrate();

const notify = defineBatchTask<{ user: number }>("notify", async (users) =>
  users.map(({ user }) => (user % 2 === 0 ? "mailbox full" : undefined)),
);

await utils.addJob(notify, [{ user: 1 }, { user: 2 }], { jobKey: "digest" });
await utils.addJob(notify, [{ user: 3 }, { user: 4 }], { jobKey: "digest" });
await runOnce({ connectionString, tasks: [notify] });

const [left] = (await utils.listJobs({ identifier: "notify" })).jobs;
console.log(`left: ${left?.payloadText}`);
console.log(left?.lastError?.split("\n")[0]);
