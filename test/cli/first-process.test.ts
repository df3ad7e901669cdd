// `worker run` as the first process of a container. Instead of a container, the tests use a process namespace, which
// needs root.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { migratedDatabase } from "../support/database.ts";
import { command, runInChild, runner } from "./command.ts";
import { filesOf } from "./run-harness.ts";

const first = ["--pid", "--fork", "--mount-proc", "--kill-child"];
const mayUnshare = spawnSync("unshare", [...first, "true"]).status === 0;
const why = mayUnshare ? false : "unshare is not allowed here";

function runFirst(args: readonly string[], env: Readonly<Record<string, string>>) {
  const { PATH = "", HOME = "" } = process.env;
  return spawnSync("unshare", [...first, runner, ...command, "run", ...args], {
    ...{ env: { PATH, HOME, ...env }, encoding: "utf8", timeout: 60_000 },
  });
}

test("As process 1, a worker reaps processes that programs have left behind, and receives signals.", {
  skip: why,
}, async () => {
  const { url } = await migratedDatabase();
  const env = { DATABASE_URL: url };
  // The last job stops the worker by a signal to the first process.
  const directory = filesOf({
    "fork.sh": "#!/bin/sh\ncat > /dev/null\n(setsid sleep 0.1 > /dev/null 2>&1 < /dev/null &)\n",
    "count.sh": `#!/bin/sh
dead() { cat /proc/[0-9]*/status 2>/dev/null | grep -c '^State:.Z'; }
for i in $(seq 50); do [ "$(dead)" = 0 ] && ! pgrep sleep > /dev/null && break; sleep 0.1; done
dead > ${"$"}{0%/*}/dead
kill -TERM 1
`,
  });
  for (const task of ["fork", "fork", "fork", "count"]) {
    await runInChild(["add", task, "{}", "--queue", "q"], env);
  }
  const { status, stderr } = runFirst(["--tasks", directory], env);
  assert.equal(status, 0, stderr);
  assert.equal(readFileSync(join(directory, "dead"), "utf8").trim(), "0");
  assert.doesNotMatch(stderr, /ExperimentalWarning|can't access tty/);
});

test("As process 1 with sockets of a service manager, a worker warns that these sockets prevent it from reaping processes.", {
  skip: why,
}, async () => {
  const { url } = await migratedDatabase();
  const directory = filesOf({ "one.sh": "#!/bin/sh\ncat > /dev/null\n" });
  await runInChild(["add", "one"], { DATABASE_URL: url });
  const env = { DATABASE_URL: url, LISTEN_PID: "1" };
  const { status, stderr } = runFirst(["--tasks", directory, "--once"], env);
  assert.equal(status, 0, stderr);
  assert.match(stderr, /the first process of its container, and its sockets \(LISTEN_PID\)/);
  assert.doesNotMatch(stderr, /there is no shell/);
});
