// Runs the jobs of run.ts with the library, so that `worker run` can be compared with it. Arguments: the file whose
// default export is the task, and options of run() as JSON.
import { pathToFileURL } from "node:url";
import { defineTask, run } from "../../../dist/index.js";

const [file = "", options = "{}"] = process.argv.slice(2);
const { default: handler } = await import(pathToFileURL(file).href);
const worker = await run({ tasks: [defineTask("bench", handler)], ...JSON.parse(options) });
await worker.stopped;
