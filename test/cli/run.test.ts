// Tests `worker run`, whose tasks are files: its exit status, its output and log, the processes that it starts, and the
// jobs that remain in the database.
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, test } from "node:test";
import pg from "pg";
import { migratedDatabase } from "../support/database.ts";
import { waitUntil } from "../support/until.ts";
import { worker } from "./command.ts";
import { filesOf, startRun } from "./run-harness.ts";

let env: { DATABASE_URL: string };
beforeEach(async () => {
  env = { DATABASE_URL: (await migratedDatabase()).url };
});

async function add(task: string, payload = "{}", ...options: string[]): Promise<void> {
  const { status, stderr } = await worker(["add", task, payload, ...options], env);
  assert.equal(status, 0, stderr);
}

interface Row {
  readonly task: string;
  readonly attempts: number;
  readonly last_error: string | null;
}

async function rows(): Promise<Row[]> {
  const client = new pg.Client({ connectionString: env.DATABASE_URL });
  await client.connect();
  const { rows: found } = await client.query<Row>(
    "select task_identifier as task, attempts, last_error from worker.jobs order by id",
  );
  await client.end();
  return found;
}

/** True if the process exists and is not a zombie. */
function lives(pid: number): boolean {
  try {
    return !/^\d+ \(.*\) [ZX]/.test(readFileSync(`/proc/${pid}/stat`, "latin1"));
  } catch {
    return false;
  }
}

test("With --once, tasks in TypeScript, Python and shell run until no job is ready; the log names a file that is no task.", async () => {
  const tasks = filesOf({
    "mail/send.ts": `interface Mail { to: string }
      export default async ({ to }: Mail, { addJob, job }: { addJob: Function; job: { id: string } }) => {
        console.log(\`mail to \${to} by job \${job.id}\`);
        await addJob("count", { to });
      };`,
    "count.py": `#!/usr/bin/env python3
import json, os, sys
payload = json.load(sys.stdin)["payload"]
print("counted", payload["to"], os.environ["WORKER_JOB_ID"], os.environ["GRAPHILE_WORKER_JOB_ATTEMPTS"])
`,
    "fails.sh": `#!/bin/sh
cat >&2
echo >&2
echo "the disk is full" >&2
exit 7
`,
    "notes.md": "no task",
  });
  await add("mail/send", '{"to":"ada"}');
  await add("fails", '{"big":9007199254740993}');
  const run = startRun(["--tasks", tasks, "--once", "--json"], env);
  const { status, stdout, stderr } = await run.ended;
  assert.equal(status, 0, stderr);
  assert.match(stdout, /mail to ada by job 1\n/);
  assert.match(stdout, /\{"completed":2,"failed":1,"skipped":0\}\n$/);
  assert.match(stderr, /"msg":"counted ada 3 1"/);
  assert.match(
    stderr,
    /"file":"notes.md","reason":"it is not executable, and has no single extension of/,
  );
  const [left, ...others] = await rows();
  assert.deepEqual(others, []);
  assert.deepEqual([left?.task, left?.attempts], ["fails", 1]);
  // The error begins with the exit code and the last line of stderr. Stderr contains the payload, byte for byte.
  assert.match(left?.last_error ?? "", /^exited with code 7: the disk is full\n\n/);
  assert.match(left?.last_error ?? "", /\{"payload":\{"big":9007199254740993\}\}/);
});

test("If a program fails with a long stderr, the job's error has the last line, and then only the end of the stderr.", async () => {
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

test("When the worker is killed, its programs end, too.", async () => {
  const tasks = filesOf({ long: '#!/bin/sh\nsleep 600 & echo "$!"\nwait\n' });
  await add("long");
  const run = startRun(["--tasks", tasks], env);
  const child = Number((await run.logged(({ stream }) => stream === "stdout")).msg);
  assert.ok(lives(child));
  run.send("SIGKILL");
  await run.ended;
  await waitUntil("the program has ended", async () => !lives(child));
});

test("If the process that starts programs is killed, the programs end, their jobs fail, and later jobs run.", async () => {
  const tasks = filesOf({
    long: '#!/bin/sh\necho "$PPID $$"\nexec sleep 600\n',
    short: "#!/bin/sh\necho done\n",
  });
  await add("long");
  const run = startRun(["--tasks", tasks], env);
  const { msg } = await run.logged(({ stream }) => stream === "stdout");
  const [starter = 0, program = 0] = msg.split(" ").map(Number);
  process.kill(starter, "SIGKILL");
  const { error } = await run.logged("a job failed");
  assert.equal(error, "long was lost: the process that starts programs has ended");
  assert.ok(!lives(program));
  await add("short");
  await run.logged("done");
  run.send("SIGTERM");
  assert.equal((await run.ended).status, 0);
});

test("After one signal, running jobs continue to their end; after two, they are aborted. The exit status is 0 in both cases.", async () => {
  const tasks = filesOf({
    "short.mjs": `import { setTimeout as sleep } from "node:timers/promises";
      export default async (_, { logger }) => { logger.info("short begins"); await sleep(300); };`,
    "endless.mjs": `export default (_, { logger, abortSignal }) => new Promise((_, reject) => {
        logger.info("endless begins");
        setInterval(() => {}, 1000); // would keep the process for ever
        abortSignal.addEventListener("abort", () => reject(new Error("aborted")));
      });`,
  });
  await add("short");
  const gentle = startRun(["--tasks", tasks], env);
  await gentle.logged("short begins");
  gentle.send("SIGTERM");
  assert.equal((await gentle.ended).status, 0);
  assert.deepEqual(await rows(), []);
  await add("endless");
  const harsh = startRun(["--tasks", tasks], env);
  await harsh.logged("endless begins");
  harsh.send("SIGINT");
  await harsh.logged("the worker stops");
  harsh.send("SIGINT");
  assert.equal((await harsh.ended).status, 0);
  assert.match((await rows())[0]?.last_error ?? "", /aborted/);
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

test("A plugin observes results and skips a job; --admin prints the URL of an admin beside the worker.", async () => {
  const tasks = filesOf({ "a.cjs": "exports.default = 1; module.exports = () => {};" });
  const files = filesOf({
    "plugin.ts": `export default { name: "narrator", register(hooks: any): void {
        hooks.on("job:complete", ({ result }: { result: string }) => console.log("settled", result));
        hooks.intercept("beforeJobRun", ({ job }: any) =>
          job.payload.no ? { action: "skip" } : undefined);
      } };`,
  });
  await add("a", '{"no":true}');
  await add("a");
  const run = startRun(
    ["--tasks", tasks, "--plugin", join(files, "plugin.ts"), "--admin", "127.0.0.1:0", "--json"],
    { ...env, WORKER_ADMIN_PASSWORD: "a secret of ours" },
  );
  await run.logged("the worker has started");
  await waitUntil("both jobs are done", async () => (await rows()).length === 0);
  run.send("SIGTERM");
  const { status, stdout } = await run.ended;
  assert.equal(status, 0);
  assert.match(stdout, /"url":"http:\/\/127\.0\.0\.1:\d+\/"/);
  assert.match(stdout, /settled skipped/);
  assert.match(stdout, /settled completed/);
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

test("A program gets its job and its schema as environment variables, but no secret of the admin.", async () => {
  const tasks = filesOf({ vars: "#!/bin/sh\nenv | sort\n" });
  await add("vars", "{}", "--queue", "q", "--key", "k");
  const { stderr } = await startRun(["--tasks", tasks, "--once"], {
    ...env,
    WORKER_ADMIN_PASSWORD: "a secret of ours",
    GRAPHILE_WORKER_JOB_KEY: "another program's",
    PASSED: "on",
  }).ended;
  const seen = new Map(
    stderr
      .split("\n")
      .filter((line) => line.includes('"stream":"stdout"'))
      .map((line) => /^(\w+)=(.*)$/s.exec(JSON.parse(line).msg)?.slice(1) as [string, string]),
  );
  const named = ["JOB_KEY", "JOB_ATTEMPTS", "JOB_MAX_ATTEMPTS", "JOB_PRIORITY", "TASK_IDENTIFIER"];
  assert.deepEqual(
    named.map((name) => [seen.get(`WORKER_${name}`), seen.get(`GRAPHILE_WORKER_${name}`)]),
    ["k", "1", "25", "0", "vars"].map((value) => [value, value]),
  );
  assert.equal(seen.get("WORKER_JOB_QUEUE"), "q");
  assert.equal(seen.get("WORKER_SCHEMA"), "worker");
  assert.equal(seen.get("PASSED"), "on");
  assert.ok(!seen.has("WORKER_ADMIN_PASSWORD"));
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

test("The fast lane runs the files' tasks, too.", async () => {
  const tasks = filesOf({
    "mark.mjs": `import { writeFileSync } from "node:fs";
      export default ({ file }, { job }) => writeFileSync(file, job.id);`,
  });
  const file = join(filesOf({}), "mark");
  await add("mark", JSON.stringify({ file }));
  const run = startRun(["--tasks", tasks, "--fast", "--fast-limit", "50ms"], env);
  await waitUntil("the job has run", async () => existsSync(file));
  run.send("SIGTERM");
  assert.equal((await run.ended).status, 0);
  assert.deepEqual(await rows(), []);
});
