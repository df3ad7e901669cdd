// A program whose database refuses it: started by failed-connect.test.ts, which waits for its end.
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
