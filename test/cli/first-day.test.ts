// What is typed on a first day: options of other programs, several faults at once, tasks that are not there.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { migratedDatabase } from "../support/database.ts";
import { quickly, worker } from "./command.ts";
import { filesOf } from "./run-harness.ts";

test("--port is answered with the option that there is.", async () => {
  for (const name of ["demo", "admin"]) {
    const ran = await quickly([name, "--port", "8080"]);
    assert.match(ran.stderr, /has no option --port; did you mean "--listen 127\.0\.0\.1:5678"\?/);
    assert.equal(ran.status, 2);
  }
  assert.doesNotMatch((await quickly(["list", "--port", "1"])).stderr, /--listen/);
});

test("A wrong --listen of the demo is refused before there is a database.", async () => {
  const dataDir = join(filesOf({}), "demo");
  const ran = await worker(["demo", "--data-dir", dataDir, "--listen", "nowhere"]);
  assert.match(ran.stderr, /--listen: must be host:port/);
  assert.deepEqual([ran.status === 0, existsSync(dataDir)], [false, false]);
});

test("The demo's help names the directory of its database.", async () => {
  const { stdout } = await quickly(["demo", "--help"]);
  assert.match(
    stdout.replaceAll(/\s+/g, " "),
    /worker\/demo in \$XDG_STATE_HOME, or in ~\/\.local\/state, as root in \/var\/lib/,
  );
});

test("The faults of a crontab have a line each.", async () => {
  const files = filesOf({
    "tasks/a.mjs": "export default () => {};",
    crontab: "61 * * * * a\n* 25 * * * a\n* * * 13 * a\n* * * * * a ?max=no\n",
  });
  const { url } = await migratedDatabase();
  const ran = await worker(
    ["run", "--tasks", join(files, "tasks"), "--crontab", join(files, "crontab"), "--once"],
    { DATABASE_URL: url },
  );
  const [head, ...lines] = ran.stderr.trimEnd().split("\n");
  assert.equal(head, `worker: ${lines.length} things are wrong:`);
  assert.ok(
    lines.length >= 4 && lines.every((line) => /^ {2}--crontab ".*", line \d/.test(line)),
    ran.stderr,
  );
  assert.equal(ran.status, 2);
});

test("run --once names the tasks of ready jobs that it has no file for.", async () => {
  const tasks = filesOf({ "here.mjs": "export default () => {};" });
  const { url } = await migratedDatabase();
  const env = { DATABASE_URL: url };
  for (const task of ["here", "missing", "missing"]) await quickly(["add", task], env);
  const ran = await worker(["run", "--tasks", tasks, "--once"], env);
  assert.match(ran.stdout, /^1 done, 0 failed\nready, but without a task here: missing 2\n$/);
  const all = filesOf({
    "here.mjs": "export default () => {};",
    "missing.mjs": "export default () => {};",
  });
  const next = await worker(["run", "--tasks", all, "--once"], env);
  assert.equal(next.stdout, "2 done, 0 failed\n");
});

test("A default that is a duration has its unit in the help.", async () => {
  assert.match((await quickly(["sweep", "--help"])).stdout, /--threshold[^[]*\[default: 300s\]/);
});

test("A fault in the syntax of a TypeScript task has its line.", async () => {
  const tasks = filesOf({
    "syn.ts": "const a: number = 1;\n\nexport default () => { return (a; };\n",
  });
  const { url } = await migratedDatabase();
  const ran = await worker(["run", "--tasks", tasks, "--once"], { DATABASE_URL: url });
  assert.match(ran.stderr, /syn\.ts: cannot be loaded: .*syn\.ts:3\)/);
});
