// A new user's program, which first-day.test.ts starts. One task throws, the other logs values that JSON cannot
// represent. The second argument selects the logger: `silent`, `text`, or `throwing`, a logger whose functions throw or
// reject. With any other argument the logger is the default. With the argument `server`, the worker runs beside an HTTP
// server that is never closed.
import { createServer } from "node:http";
import { createLogger } from "../../src/base/logger.ts";
import { run, runOnce } from "../../src/worker/run.ts";
import { defineTask } from "../../src/worker/task/task.ts";

const [connectionString = "", what] = process.argv.slice(2);
const broken = defineTask("broken", () => {
  throw new Error("the \u001b[31mfirst\u001b[0m bug\nsecond line");
});
const cycle: { self?: unknown } = {};
cycle.self = cycle;
const throws = () => {
  throw new Error("not this one");
};
const fails = () => Promise.reject(new Error("not this one"));
const logging = defineTask("logging", (_, { logger }) => {
  logger.warn({ id: 9007199254740993n, nested: { id: 1n } }, "bigints");
  logger.warn({ cycle, json: { toJSON: throws } }, "objects");
  logger.warn(Object.defineProperty({}, "getter", { enumerable: true, get: throws }), "a getter");
  logger.info("the last line");
});
const options = { connectionString, tasks: [broken, logging], recovery: false as const };
if (what === "server") {
  const worker = await run(options);
  const server = createServer();
  server.listen(0, "127.0.0.1", () => process.stdout.write("up\n"));
  void worker.stopped.then(() => process.stdout.write("stopped\n"));
} else if (what === "text") await runOnce({ ...options, logger: await createLogger() });
else if (what === "throwing") {
  const logger = {
    debug: throws,
    info: throws,
    warn: fails,
    error: throws,
    isLevelEnabled: throws,
  };
  await runOnce({ ...options, logger });
} else await runOnce(what === "silent" ? { ...options, logger: "silent" } : options);
