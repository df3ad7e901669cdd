// Further tests of `worker run`: errors and children of programs, exit statuses, crontabs, invalid files and options.
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import pg from "pg";
import { waitUntil } from "../../support/until.ts";
import { worker } from "../command.ts";
import { filesOf, startRun } from "../run-harness.ts";
import { add, env, lives, rows } from "../run-queue.ts";

test("If a program with a long stderr fails, the job's error begins with the last line. Below it is the end of the stderr.", async () => {
  const tasks = filesOf({
    loud: `#!/bin/sh
i=0; while [ $i -lt 2000 ]; do echo "line $i of many many many" >&2; i=$((i+1)); done
exit 1
`,
  });
  await add("loud");
  const { status } = await startRun(["--tasks", tasks, "--once"], env).ended;
  assert.equal(status, 0);
  const error = (await rows())[0]?.last_error ?? "";
  assert.match(error, /^exited with code 1: line 1999 of many many many\n\n…line \d+ of/);
  assert.ok(error.length < 9_000, String(error.length));
});

test("A program that takes too long is ended with all its children, also those that ignore SIGTERM.", async () => {
  const tasks = filesOf({
    "stubborn.sh": `#!/bin/sh
trap '' TERM
sleep 600 & echo "child $!"
echo "waiting" >&2
wait; wait; sleep 600
`,
  });
  await add("stubborn");
  const run = startRun(
    ["--tasks", tasks, "--once", "--timeout", "5s", "--abort-grace", "500ms"],
    env,
  );
  const { msg } = await run.logged("child ");
  const child = Number(/\d+/.exec(msg)?.[0]);
  assert.ok(lives(child));
  assert.equal((await run.ended).status, 0);
  assert.ok(!lives(child));
  assert.match((await rows())[0]?.last_error ?? "", /^timed out after 5000 ms: waiting$/);
});

test("With --once, the exit status is 1 if the worker stops waiting for a job that does not end.", async () => {
  const tasks = filesOf({
    "stuck.mjs": "export default () => { console.log('begun'); return new Promise(() => {}); };",
  });
  await add("stuck");
  const limits = ["--stop-timeout", "200ms", "--abort-grace", "100ms"];
  const run = startRun(["--tasks", tasks, "--once", "--json", ...limits], env);
  await waitUntil("the job runs", async () => run.stdout.includes("begun"));
  run.send("SIGTERM");
  const { status, stdout, stderr } = await run.ended;
  assert.equal(status, 1, stderr);
  assert.match(stdout, /\{"completed":0,"failed":1,"skipped":0\}\n$/);
  assert.match(stderr, /the worker stopped waiting for jobs that did not end/);
});

test("An uncaught exception is logged, running jobs continue to their end, and the exit status is 1.", async () => {
  const tasks = filesOf({
    "loose.mjs": `import { setTimeout as sleep } from "node:timers/promises";
      export default async () => { Promise.reject(new Error("let go")); await sleep(200); };`,
  });
  await add("loose");
  const run = startRun(["--tasks", tasks], env);
  const { error } = await run.logged("uncaught exception");
  assert.equal(error, "let go");
  assert.equal((await run.ended).status, 1);
  assert.deepEqual(await rows(), []);
});

test("A crontab in Graphile Worker's format works.", async () => {
  const tasks = filesOf({
    "tick.js": "module.exports = (p, h) => h.logger.info('tick ' + p.name);",
  });
  const files = filesOf({
    crontab: "# every minute\n* * * * * tick ?fill=1h&id=often {name: 'ada'}\n",
  });
  const known = new pg.Client({ connectionString: env.DATABASE_URL });
  await known.connect();
  await known.query(
    "insert into worker._private_known_crontabs values ('often', now() - interval '1 h', now() - interval '5 min')",
  );
  await known.end();
  const run = startRun(["--tasks", tasks, "--crontab", join(files, "crontab")], env);
  const { task } = await run.logged("tick ada");
  assert.equal(task, "tick");
  run.send("SIGTERM");
  assert.equal((await run.ended).status, 0);
});

test("/healthz of an admin beside a worker lists the jobs that ignore their aborted signal.", async () => {
  const module = "export default () => new Promise((resolve) => setTimeout(resolve, 3_600_000));";
  const tasks = filesOf({ "stubborn.mjs": module });
  await add("stubborn");
  const run = startRun(
    ["--tasks", tasks, "--admin", "127.0.0.1:0", "--json", "--timeout", "100ms"],
    { ...env, WORKER_RUN_ABORT_GRACE: "100ms", WORKER_ADMIN_PASSWORD: "a secret of ours" },
  );
  await run.logged("the worker has started");
  const url = /"url":"([^"]+)"/.exec(run.stdout)?.[1];
  const ignoring = async () => {
    const answer = await fetch(new URL("healthz", url));
    assert.equal(answer.status, 200);
    const { jobs_ignoring_signal: ids } = (await answer.json()) as Record<string, number[]>;
    return ids ?? [];
  };
  await waitUntil("/healthz lists the job", async () => (await ignoring()).length === 1);
  assert.ok((await ignoring()).every(Number.isInteger));
  run.send("SIGTERM");
  await run.ended;
});

test("All problems with task files, plugins and the crontab are reported together, the exit status is 2, and the worker does not start.", async () => {
  const tasks = filesOf({
    "enum.ts": "enum A { B }\nexport default () => A.B;",
    "object.js": "module.exports = { a: 1 };",
    "none.mts": "export const a = 1;",
    "syntax.mjs": "export default ( => 1;",
    "thrown.cjs": "\nthrow new Error('at its top');",
    "missing.js": 'require("not-installed");',
    "other.mjs": `export default { identifier: "else", kind: "single", handle() {} };`,
    "good.js": "module.exports = () => {};",
  });
  const bad = async (args: string[]) => {
    const { status, stderr } = await worker(["run", ...args], env);
    assert.equal(status, 2, stderr);
    return stderr.replaceAll(tasks, "DIR");
  };
  const lines = await bad([
    "--tasks",
    tasks,
    "--plugin",
    join(tasks, "good.js"),
    "--crontab",
    "/x",
  ]);
  const expected = [
    /enum\.ts: contains TypeScript syntax that cannot be stripped.*: TypeScript enum \(DIR\/enum\.ts:1\)/,
    /object\.js: its default export must be a function .*; it is of type object/,
    /none\.mts: has no default export/,
    /syntax\.mjs: cannot be loaded: Unexpected token '=>'/,
    /thrown\.cjs: cannot be loaded: at its top \(DIR\/thrown\.cjs:2\)/,
    /missing\.js: cannot be loaded: Cannot find module 'not-installed'/,
    /other\.mjs: its task has the identifier "else", but its path requires "other"/,
    /--plugin ".*good\.js": its default export must be a plugin/,
    /--crontab "\/x": cannot be read: ENOENT/,
  ];
  for (const one of expected) assert.match(lines, one);
  assert.match(await bad([]), /--tasks is missing/);
  assert.match(
    await bad(["--tasks", "/nowhere"]),
    /--tasks: the directory "\/nowhere" does not exist/,
  );
  assert.match(await bad(["--tasks", filesOf({})]), /--tasks: no task found in/);
  const twice = filesOf({ "a/b.js": "module.exports = () => {};", "a/b.sh": "#!/bin/sh\n" });
  assert.match(
    await bad(["--tasks", twice]),
    /several files are the task "a\/b": a\/b\.js, a\/b\.sh/,
  );
  const crontab = join(filesOf({ crontab: "* * * * tick\n" }), "crontab");
  const good = filesOf({ "good.js": "module.exports = () => {};" });
  assert.match(
    await bad(["--tasks", good, "--crontab", crontab]),
    /--crontab ".*", line 1, column \d+: the line ends too early/,
  );
  assert.match(await bad(["--tasks", good, "--once", "--watch"]), /use either --once or --watch/);
  assert.match(await bad(["--tasks", good, "--fast-limit", "20ms"]), /--fast-limit needs --fast/);
  assert.match(
    await bad(["--tasks", good, "--fast", "--fast-queues"]),
    /--fast-queues was removed: .* remove this option/,
  );
});

test("Options of Graphile Worker's command line work, but a duration without a unit, such as 500, is rejected.", async () => {
  const tasks = filesOf({ "a.js": "module.exports = () => {};" });
  await add("a");
  const words = ["--tasks", tasks, "--once", "-j", "2", "-m", "3", "-s", "worker"];
  const { PATH = "" } = process.env;
  const more = ["-c", env.DATABASE_URL, "--no-prepared-statements", "--poll-interval", "500ms"];
  const { status, stdout, stderr } = await startRun([...words, ...more], { PATH }).ended;
  assert.deepEqual([status, stdout], [0, "1 done, 0 failed\n"], stderr);
  const refused = await worker(["run", "--tasks", tasks, "--poll-interval", "500"], env);
  assert.match(refused.stderr, /--poll-interval: needs its unit, such as 2s or 2000ms/);
});
