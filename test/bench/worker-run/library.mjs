// The library's side of the comparison: a program with the same handler. Arguments: the handler's file, and the options
// as JSON.
import { pathToFileURL } from "node:url";
import { defineTask, run } from "../../../dist/index.js";

const [file = "", options = "{}"] = process.argv.slice(2);
const { default: handler } = await import(pathToFileURL(file).href);
const worker = await run({ tasks: [defineTask("bench", handler)], ...JSON.parse(options) });
await worker.stopped;
