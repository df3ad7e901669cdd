// Job keys: at most one waiting job has a given key. Depending on `jobKeyMode`, an add with the same key replaces the
// waiting job, replaces everything except its time, or changes nothing. A job can be removed by its key.
import { makeWorkerUtils } from "pg-job-worker";

const connectionString = process.env.DATABASE_URL ?? "";
await using utils = await makeWorkerUtils({ connectionString });
await utils.migrate();

const runAt = new Date("2030-01-01T00:00:00Z");
const first = await utils.addJob("sync", { version: 1 }, { jobKey: "sync:42", runAt });
const second = await utils.addJob(
  "sync",
  { version: 2 },
  { jobKey: "sync:42", jobKeyMode: "preserve_run_at" },
);
console.log(`same job: ${first.id === second.id}, payload: ${second.payloadText}`);
console.log(`run at: ${second.runAt.toISOString()}`);

const { outcome } = await utils.removeJob("sync:42");
console.log(outcome);
