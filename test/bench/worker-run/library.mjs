// The library's side of the comparison: the same handler, in a program of one's own. Two arguments: the
// file of the handler, and the options as JSON.
import { pathToFileURL } from "node:url";
import { defineTask, run } from "../../../dist/index.js";

const [file = "", options = "{}"] = process.argv.slice(2);
const { default: handler } = await import(pathToFileURL(file).href);
const worker = await run({ tasks: [defineTask("bench", handler)], ...JSON.parse(options) });
await worker.stopped;
