// Tests `worker run`, whose tasks are files: its exit status, its output and log, the processes that it starts, and the
// jobs that remain in the database. long/run.test.ts has further tests.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { waitUntil } from "../support/until.ts";
import { filesOf, startRun } from "./run-harness.ts";
import { add, env, lives, rows } from "./run-queue.ts";

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
