// Tests that the worker of `worker run --watch` is a separate process, and that it has the options of the command. See
// also long/run-watch.test.ts.
import assert from "node:assert/strict";
import { test } from "node:test";
import { migratedDatabase } from "../support/database.ts";
import { filesOf, startRun } from "./run-harness.ts";

test("If the process that watches is killed, its worker process stops, too.", async () => {
  const tasks = filesOf({ "a.js": "module.exports = () => {};" });
  const env = { DATABASE_URL: (await migratedDatabase()).url };
  const run = startRun(["--tasks", tasks, "--watch", "--concurrency", "3"], env);
  const { tasks: loaded, concurrency, pid } = await run.logged("the tasks are loaded");
  assert.deepEqual([loaded, concurrency], [["a"], 3]);
  assert.notEqual(pid, run.pid);
  await run.logged("the worker has started");
  run.send("SIGKILL");
  // Both processes have the log open, so `ended` waits for both.
  const { stderr } = await run.ended;
  assert.match(stderr, /"msg":"the worker stops"/);
});
