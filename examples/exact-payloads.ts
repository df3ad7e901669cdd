// Payloads are stored and shown byte for byte. A task that needs integers beyond 2^53 reads `job.payloadText`.
import { defineTask, makeWorkerUtils, rawJson, runOnce } from "pg-job-worker";

const connectionString = process.env.DATABASE_URL ?? "";
await using utils = await makeWorkerUtils({ connectionString });
await utils.migrate();

const pay = defineTask("pay", (_payload, { job }) => console.log(job.payloadText));

await utils.addJob(pay, rawJson('{"id": 9007199254740993, "b":1, "a":2}'));
await utils.addJob(pay, { id: 9_223_372_036_854_775_807n });
await runOnce({ connectionString, tasks: [pay] });
