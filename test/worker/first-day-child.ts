// A new user's program: a task that throws, with or without a logger; or a worker with an HTTP server that is never
// closed.
import { createServer } from "node:http";
import { run, runOnce } from "../../src/worker/run.ts";
import { defineTask } from "../../src/worker/task/task.ts";

const [connectionString = "", what] = process.argv.slice(2);
const broken = defineTask("broken", () => {
  throw new Error("the \u001b[31mfirst\u001b[0m bug\nsecond line");
});
const options = { connectionString, tasks: [broken], recovery: false as const };
if (what === "server") {
  const worker = await run(options);
  const server = createServer();
  server.listen(0, "127.0.0.1", () => process.stdout.write("up\n"));
  void worker.stopped.then(() => process.stdout.write("stopped\n"));
} else await runOnce(what === "silent" ? { ...options, logger: "silent" } : options);
