// Tests that a program that ignores SIGTERM is ended, and that the processes of the machine are rarely listed
// meanwhile.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { test } from "node:test";
import { endGroup } from "../../src/worker/files/process-group.ts";

test("While endGroup() waits for the end of a program, it does not list all processes of the machine in each poll.", async (t) => {
  const script = "trap '' TERM; echo ready; while :; do sleep 0.05; done";
  const program = spawn("/bin/sh", ["-c", script], {
    detached: true,
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = once(program, "exit");
  await once(program.stdout, "data");
  const { mock } = t.mock.method(fs, "readdirSync");
  syncBuiltinESMExports();
  await endGroup(program.pid ?? 0, 400);
  t.mock.restoreAll();
  syncBuiltinESMExports();
  assert.deepEqual((await ended)[1], "SIGKILL");
  const lists = mock.calls.filter(({ arguments: [path] }) => path === "/proc");
  // /proc is listed once before SIGKILL, and a few times after it, although the group is polled about 20 times.
  assert.ok(lists.length <= 4, `/proc is listed ${lists.length} times`);
});
