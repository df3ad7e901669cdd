// Tests of `worker run --watch`: after a change of a file, running jobs end, the worker stops, and a new worker starts.
import assert from "node:assert/strict";
import { appendFileSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { before, test } from "node:test";
import { migratedDatabase } from "../../support/database.ts";
import { worker } from "../command.ts";
import { filesOf, putFile, startRun } from "../run-harness.ts";

let env: { DATABASE_URL: string };
before(async () => {
  env = { DATABASE_URL: (await migratedDatabase()).url };
});

async function add(task: string): Promise<void> {
  const { status, stderr } = await worker(["add", task], env);
  assert.equal(status, 0, stderr);
}

test("The worker restarts even if a file in the directory of its tasks keeps changing and another cannot be read, and the log names the changed file.", async (t) => {
  const tasks = filesOf({ "one.mjs": "export default () => {};", "task.log": "" });
  symlinkSync("loop", join(tasks, "loop"));
  const run = startRun(["--tasks", tasks, "--watch"], env);
  await run.logged("the worker has started");
  const seen = run.count;
  const writing = setInterval(() => appendFileSync(join(tasks, "task.log"), "a line\n"), 20);
  t.after(() => clearInterval(writing));
  const { file } = await run.logged("a file has changed", seen);
  assert.equal(file, join(tasks, "task.log"));
  await run.logged("the worker has started", seen);
  run.send("SIGTERM");
  assert.equal((await run.ended).status, 0);
});

const exporting = (word: string) => `export const word = "${word}";\n`;

test("Running jobs end with the old files before a worker with the new files starts; if a task cannot be loaded, the command waits for a change.", async () => {
  const project = filesOf({
    "lib/word.mjs": exporting("one"),
    "tasks/say.mts": `import { setTimeout as sleep } from "node:timers/promises";
      import { word } from "../lib/word.mjs";
      export default async (_: unknown, { logger }: any) => {
        logger.info("begins with " + word);
        await sleep(1000);
        logger.info("ends with " + word);
      };`,
  });
  const run = startRun(["--tasks", join(project, "tasks"), "--watch"], env);
  const first = await run.logged("the worker has started");
  assert.notEqual(first.pid, run.pid); // the worker is a separate process
  await add("say");
  await run.logged("begins with one");
  let seen = run.count;
  // This file is not a task, but a task imports it.
  putFile(project, "lib/word.mjs", exporting("two"));
  await run.logged("ends with one", seen);
  const second = await run.logged("the worker has started", seen);
  assert.notEqual(second.pid, first.pid);
  await add("say");
  await run.logged("ends with two");
  seen = run.count;
  putFile(project, "tasks/say.mts", "export default ( => 1;");
  await run.logged("waiting for a file to change", seen);
  seen = run.count;
  rmSync(join(project, "tasks/say.mts"));
  putFile(project, "tasks/hello", "#!/bin/sh\necho hello\n");
  const { tasks } = await run.logged("the tasks are loaded", seen);
  assert.deepEqual(tasks, ["hello"]);
  await add("hello");
  await run.logged(({ msg, stream }) => stream === "stdout" && msg === "hello");
  run.send("SIGTERM");
  const { status, stderr } = await run.ended;
  assert.equal(status, 0);
  assert.match(stderr, /worker: say\.mts: cannot be loaded: /);
});
