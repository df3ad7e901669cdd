// Tests texts that a new user is likely to see: the help, and messages about options of other programs, about several
// problems at once, about missing tasks and about syntax errors.
import assert from "node:assert/strict";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { migratedDatabase, serverUrl } from "../support/database.ts";
import { testPool } from "../support/test-pool.ts";
import { waitUntil } from "../support/until.ts";
import { runInChild, worker } from "./command.ts";
import { filesOf, startRun } from "./run-harness.ts";

test("--port and -p of demo and admin suggest --listen.", async () => {
  for (const name of ["demo", "admin"])
    for (const option of ["--port", "-p"]) {
      const result = await runInChild([name, option, "8080"]);
      const hint = `has no option ${option}; did you mean "--listen 127.0.0.1:5678"?`;
      assert.ok(result.stderr.includes(hint), result.stderr);
      assert.equal(result.status, 2);
    }
  assert.doesNotMatch((await runInChild(["list", "--port", "1"])).stderr, /--listen/);
  assert.match((await runInChild(["list", "-p", "1"])).stderr, /has no option -p; see/);
});

test("A wrong --listen of the demo is rejected before a database is created.", async () => {
  const dataDir = join(filesOf({}), "demo");
  const result = await worker(["demo", "--data-dir", dataDir, "--listen", "nowhere"]);
  assert.match(result.stderr, /--listen: must be host:port/);
  assert.deepEqual([result.status === 0, existsSync(dataDir)], [false, false]);
});

test("The demo's help names the directory of its database.", async () => {
  const { stdout } = await runInChild(["demo", "--help"]);
  assert.match(
    stdout.replaceAll(/\s+/g, " "),
    /worker\/demo in \$XDG_STATE_HOME or ~\/\.local\/state \(root: \/var\/lib\)/,
  );
});

test("Each problem of a crontab is reported on its own line.", async () => {
  const files = filesOf({
    "tasks/a.mjs": "export default () => {};",
    crontab: "61 * * * * a\n* 25 * * * a\n* * * 13 * a\n* * * * * a ?max=no\n",
  });
  const { url } = await migratedDatabase();
  const result = await worker(
    ["run", "--tasks", join(files, "tasks"), "--crontab", join(files, "crontab"), "--once"],
    { DATABASE_URL: url },
  );
  const [head, ...lines] = result.stderr.trimEnd().split("\n");
  assert.equal(head, `worker: ${lines.length} problems:`);
  assert.ok(
    lines.length >= 4 && lines.every((line) => /^ {2}--crontab ".*", line \d/.test(line)),
    result.stderr,
  );
  assert.equal(result.status, 2);
});

test("run --once names the tasks of ready jobs for which it has no file.", async () => {
  const tasks = filesOf({ "here.mjs": "export default () => {};" });
  const { url } = await migratedDatabase();
  const env = { DATABASE_URL: url };
  for (const task of ["here", "missing", "missing"]) await runInChild(["add", task], env);
  const result = await worker(["run", "--tasks", tasks, "--once"], env);
  assert.match(
    result.stdout,
    /^1 done, 0 failed\nready jobs of tasks that this worker does not have: missing 2\n$/,
  );
  const all = filesOf({
    "here.mjs": "export default () => {};",
    "missing.mjs": "export default () => {};",
  });
  const next = await worker(["run", "--tasks", all, "--once"], env);
  assert.equal(next.stdout, "2 done, 0 failed\n");
});

test("run --once ends with status 0 even if it cannot read which jobs of other tasks are ready.", async () => {
  const go = join(filesOf({}), "go");
  const tasks = filesOf({
    "here.mjs": `import { existsSync, writeFileSync } from "node:fs";
      import { setTimeout } from "node:timers/promises";
      export default async () => {
        while (!existsSync(${JSON.stringify(go)})) await setTimeout(20);
      };`,
  });
  const { name, url } = await migratedDatabase();
  await using own = testPool(url);
  await using server = testPool(await serverUrl());
  await own.pool.query("select worker.add_job('here')");
  const run = startRun(["--tasks", tasks, "--once"], { DATABASE_URL: url });
  await waitUntil("the job runs", async () => {
    const locked = "select from worker._private_jobs where locked_by is not null";
    return (await own.pool.query(locked)).rowCount === 1;
  });
  // PostgreSQL now refuses new sessions; existing ones continue.
  await server.pool.query(`alter database ${name} with allow_connections false`);
  writeFileSync(go, "");
  const { status, stdout, stderr } = await run.ended;
  await server.pool.query(`alter database ${name} with allow_connections true`);
  assert.deepEqual([status, stdout], [0, "1 done, 0 failed\n"], stderr);
  assert.match(stderr, /not currently accepting connections.*other ready jobs could not be read/);
});

test("A default duration has its unit in the help.", async () => {
  assert.match((await runInChild(["sweep", "--help"])).stdout, /--threshold[^[]*\[default: 300s\]/);
});

test("A syntax error in a task file is reported with its line, in every kind of module.", async () => {
  const kinds = ["ts", "mts", "mjs", "js", "cjs"];
  const text = "const a = 1;\n\nconst f = () => { return (a; };\n";
  const esm = `${text}export default f;\n`;
  const files = kinds.map((kind) => [`syn-${kind}.${kind}`, kind === "cjs" ? text : esm]);
  const tasks = filesOf({ ...Object.fromEntries(files), "package.json": '{"type":"module"}' });
  const { url } = await migratedDatabase();
  const result = await worker(["run", "--tasks", tasks, "--once"], { DATABASE_URL: url });
  for (const kind of kinds) {
    const name = `syn-${kind}\\.${kind}`;
    const line = new RegExp(`^ {2}${name}: cannot be loaded: .*${name}:3\\)$`, "m");
    assert.match(result.stderr, line);
  }
  assert.doesNotMatch(result.stderr, /experimental/i);
});

test("Each of several invalid options is listed on its own line; a single invalid option is reported in one line.", async () => {
  const two = await runInChild(["add", "t", "--priority", "99999", "--max-attempts", "0"]);
  const [head, ...lines] = two.stderr.trimEnd().split("\n");
  assert.equal(head, "worker: 2 problems:");
  assert.match(lines.join("\n"), /^ {2}--max-attempts: must .*\n {2}--priority: must .*$/);
  const one = await runInChild(["add", "t", "--priority", "99999"]);
  assert.match(one.stderr, /^worker: --priority: must be a whole number .*\n$/);
  const json = await runInChild([
    "add",
    "t",
    "--priority",
    "99999",
    "--max-attempts",
    "0",
    "--json",
  ]);
  assert.equal(JSON.parse(json.stderr).problems.length, 2);
});
