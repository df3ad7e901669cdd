// Tests the confirmation of destructive commands. A command that needs a terminal gets one of its own (terminal.ts),
// on which the test types the answer.
import assert from "node:assert/strict";
import { before, test } from "node:test";
import { migratedDatabase } from "../support/database.ts";
import { runInChild, worker } from "./command.ts";
import { onTerminal as runOnTerminal } from "./terminal.ts";

let env: { DATABASE_URL: string };
before(async () => {
  env = { DATABASE_URL: (await migratedDatabase()).url };
});

const onTerminal = (args: readonly string[], answer: string) => runOnTerminal(args, env, answer);

async function addJob(): Promise<string> {
  const result = await worker(["add", "t", "{}", "--key", "k", "--json"], env);
  return String(JSON.parse(result.stdout).jobs[0].id);
}

async function isThere(id: string): Promise<boolean> {
  return (await worker(["show", id], env)).status === 0;
}

const yes = "y\r";
const no = "\r";
const ctrlD = "\u0004";

test("On a terminal a destructive command shows its consequence and waits for a yes.", async () => {
  const id = await addJob();
  for (const answer of [no, "nope\r", ctrlD]) {
    const { status, screen } = await onTerminal(["complete", id], answer);
    assert.match(screen, new RegExp(`complete ${id}: .*deleted.* Continue\\? \\[y/N\\]`));
    assert.match(screen, /nothing was changed/);
    assert.equal(status, 1);
  }
  assert.equal(await isThere(id), true);
  const done = await onTerminal(["complete", id], yes);
  assert.deepEqual([done.status, /Completed 1 of 1 job/.test(done.screen)], [0, true]);
  assert.equal(await isThere(id), false);
});

test("--yes confirms in advance, with and without a terminal.", async () => {
  for (const run of [
    (id: string) => onTerminal(["complete", id, "-y"], no),
    (id: string) => worker(["complete", id, "--yes"], env),
  ]) {
    const id = await addJob();
    assert.equal((await run(id)).status, 0);
    assert.equal(await isThere(id), false);
  }
});

test("Without a terminal a destructive command is rejected unless --yes confirms it.", async () => {
  const id = await addJob();
  const destroying = [
    ...[["remove", "k"], ["fail", id], ["complete", id], ["unlock", "w"], ["sweep"]],
    ...[
      ["cleanup", "--all"],
      ["complete", "task:t"],
      ["fail", "is:ready"],
    ],
    ["remove", "--query", "task:t"],
  ];
  for (const args of destroying) {
    const result = await runInChild(args, env);
    const line = `worker: ${args[0]} asks for confirmation, and there is no terminal: confirm with --yes; see "worker ${args[0]} --help"\n`;
    assert.deepEqual(result, { status: 2, stdout: "", stderr: line });
  }
  assert.equal(await isThere(id), true);
  for (const args of [
    ["sweep", "--dry-run"],
    ["fail", "task:t", "--dry-run"],
    ["retry", "task:t", "--with-operations"],
  ]) {
    assert.equal((await runInChild(args, env)).status, 0, args.join(" "));
  }
});

test("Destructive commands ask for confirmation; a dry run, run-now, retry and list do not.", async () => {
  const id = await addJob();
  const asking = [["remove", "k"], ["fail", id], ["unlock", "w"], ["sweep"], ["cleanup", "--all"]];
  for (const args of asking) {
    const { status, screen } = await onTerminal(args, no);
    assert.deepEqual([status, screen.includes("[y/N]")], [1, true], screen);
  }
  for (const args of [["sweep", "--dry-run"], ["run-now", id], ["retry", id], ["list"]]) {
    const { status, screen } = await onTerminal(args, no);
    assert.deepEqual([status, screen.includes("[y/N]")], [0, false], screen);
  }
});
