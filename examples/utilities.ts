// Finds, changes and cleans up jobs in your own code, as the admin does.
import { makeWorkerUtils } from "pg-job-worker";

const connectionString = process.env.DATABASE_URL ?? "";
await using utils = await makeWorkerUtils({ connectionString });
await utils.migrate();

const { id } = await utils.addJob("import", { file: "a.csv" }, { priority: 5 });
await utils.permanentlyFailJobs([id], "the file is gone");
const { jobs } = await utils.listJobs({ state: "failed", search: "gone" });
console.log(`failed: ${jobs.map((job) => job.lastError).join()}`);

await utils.rescheduleJobs(
  jobs.map((job) => job.id),
  { runAt: "now", attempts: 0 },
);
console.log(await utils.countJobs());
await utils.completeJobs([id]);
console.log(await utils.cleanup());
console.log(await utils.sweepStaleWorkers({ dryRun: true }));
