// A program whose login the database refuses. failed-connect.test.ts starts it, and tests that it ends by itself.
import { defineTask, makeWorkerUtils, run } from "../../src/index.ts";

const [, , part = "", connectionString = ""] = process.argv;
const nothing = defineTask("nothing", async () => {});
const parts: Record<string, () => Promise<unknown>> = {
  utils: async () => (await makeWorkerUtils({ connectionString })).countJobs(),
  worker: () => run({ connectionString, tasks: [nothing], handleSignals: false }),
};
await parts[part]?.().catch((error: Error & { code: string }) => {
  console.log(JSON.stringify({ code: error.code, message: error.message }));
});
