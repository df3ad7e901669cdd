// Tests that an admin and a worker continue if their log cannot be written, and that a worker ends with a message if a
// task calls process.exit(). Also tests that running jobs continue to their end after an uncaught error, and that log
// lines cannot control a terminal.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { createInterface } from "node:readline";
import { test } from "node:test";
import pg from "pg";
import { migratedDatabase } from "../../support/database.ts";
import { waitUntil } from "../../support/until.ts";
import { NOWHERE } from "../admin-process.ts";
import { command, runner, worker } from "../command.ts";
import { filesOf, startRun } from "../run-harness.ts";

const FULL = "/dev/full";

/** Starts a command whose stderr is a file on which every write fails with ENOSPC. */
function withFullLog(args: readonly string[], env: Readonly<Record<string, string>>) {
  const log = openSync(FULL, "w");
  try {
    const { PATH = "", HOME = "" } = process.env;
    const child = spawn(runner, [...command, ...args], {
      env: { PATH, HOME, ...env },
      stdio: ["ignore", "pipe", log],
    });
    const ended = new Promise<number | null>((resolve) =>
      child.once("close", (status) => resolve(status)),
    );
    return { child, ended };
  } finally {
    closeSync(log);
  }
}

test("The admin keeps serving if it cannot write the log line of a wrong login.", async () => {
  const args = ["admin", "--json", "--listen", "127.0.0.1:0"];
  const { child, ended } = withFullLog(args, { DATABASE_URL: NOWHERE });
  if (child.stdout === null) throw new Error("stdout is not a pipe");
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  const { url } = JSON.parse((await lines.next()).value ?? "");
  const wrong = { authorization: `Basic ${Buffer.from("admin:wrong").toString("base64")}` };
  assert.equal((await fetch(`${url}api/session`, { headers: wrong })).status, 401);
  assert.equal((await fetch(`${url}healthz`)).status, 200);
  child.kill("SIGTERM");
  assert.equal(await ended, 0);
});

test("A worker that cannot write its log runs its jobs, also failing ones, and ends normally.", async () => {
  const { url } = await migratedDatabase();
  const env = { DATABASE_URL: url };
  const tasks = filesOf({
    "well.mjs": "export default () => {};",
    "ill.mjs": "export default () => { throw new Error('ill'); };",
  });
  for (const task of ["ill", "well", "ill"]) await worker(["add", task, "{}"], env);
  const { child, ended } = withFullLog(["run", "--once", "--tasks", tasks], env);
  let output = "";
  child.stdout?.setEncoding("utf8").on("data", (text: string) => {
    output += text;
  });
  assert.equal(await ended, 0);
  assert.match(output, /1 done, 2 failed/);
});

test("A worker keeps running jobs after the reader of its stdout and stderr has closed both.", async () => {
  const { url } = await migratedDatabase();
  const env = { DATABASE_URL: url };
  const tasks = filesOf({ "talk.mjs": "export default () => console.log('x'.repeat(9_000));" });
  const { PATH = "", HOME = "" } = process.env;
  const child = spawn(runner, [...command, "run", "--tasks", tasks], {
    env: { PATH, HOME, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const ended = new Promise((resolve) => child.once("exit", (...how) => resolve(how)));
  for await (const line of createInterface(child.stderr)) {
    if (line.includes("the worker has started")) break;
  }
  for (const stream of [child.stdout, child.stderr]) stream.destroy();
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  for (let n = 0; n < 3; n++) {
    await client.query("select worker.add_job('talk')");
    await waitUntil("the job is done", async () => {
      return (await client.query("select from worker.jobs")).rowCount === 0;
    });
  }
  await client.end();
  child.kill("SIGTERM");
  assert.deepEqual(await ended, [0, null]);
});

test("If a task calls process.exit(0), the worker's status is 1, and a message names the cause.", async () => {
  const { url } = await migratedDatabase();
  const env = { DATABASE_URL: url };
  const tasks = filesOf({ "leave.mjs": "export default () => process.exit(0);" });
  await worker(["add", "leave", "{}"], env);
  const { status, stderr } = await startRun(["--tasks", tasks, "--once"], env).ended;
  assert.equal(status, 1);
  assert.match(stderr, /a task has ended this process/);
});

test("A running job continues after an uncaught error and a signal. If a third signal ends a worker, the log does not blame a task.", async () => {
  const { url } = await migratedDatabase();
  const env = { DATABASE_URL: url };
  const tasks = filesOf({
    "stray.mjs": "export default () => { setTimeout(() => { throw new Error('stray'); }, 10); };",
    "slow.mjs": `import { setTimeout as sleep } from "node:timers/promises";
      export default async (_, { signal, logger }) => {
        logger.info("slow begins");
        await sleep(2_000);
        logger.info(signal.aborted ? "slow was aborted" : "slow ends");
        if (_.forever) await new Promise(() => setInterval(() => {}, 1_000));
      };`,
  });
  await worker(["add", "slow", "{}"], env);
  const run = startRun(["--tasks", tasks, "--concurrency", "2"], env);
  await run.logged("slow begins");
  await worker(["add", "stray", "{}"], env);
  await run.logged("uncaught exception: the worker stops");
  run.send("SIGTERM");
  await run.logged("slow ends");
  assert.equal((await run.ended).status, 1);

  await worker(["add", "slow", '{"forever":true}'], env);
  const again = startRun(["--tasks", tasks], env);
  await again.logged("slow begins");
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) again.send(signal);
  const { status, stderr } = await again.ended;
  assert.ok([129, 130, 143].includes(status ?? 0), `the exit status is ${status}: ${stderr}`);
  assert.doesNotMatch(stderr, /a task has ended this process/);
});

test("A JSON log line has the exact error, and cannot control a terminal.", async () => {
  const { url } = await migratedDatabase();
  const env = { DATABASE_URL: url };
  const tasks = filesOf({
    "colour.mjs": "export default () => { throw new Error('red\\u001b[31m\\u202e\\nand more'); };",
  });
  await worker(["add", "colour", "{}"], env);
  const { stderr } = await startRun(["--tasks", tasks, "--once"], env).ended;
  assert.ok(!stderr.includes("\u001b") && !stderr.includes("\u202e"));
  const lines = stderr
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  const { error } = lines.find(({ msg }) => msg.includes("failed"));
  assert.ok(error.startsWith("red\u001b[31m\u202e\nand more"), error);
});
