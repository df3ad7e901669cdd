// Tests that texts in the database and in arguments cannot control the operator's terminal: commands print no control
// characters or invisible characters, except line feeds.
import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import pg from "pg";
import { commands } from "../../../src/cli/commands/index.ts";
import { migratedDatabase } from "../../support/database.ts";
import { type CommandResult, runInChild, worker } from "../command.ts";

// Contains sequences that clear the screen, set the window's title and set a colour (with the C1 character CSI), a bidi
// override, separators of lines and of paragraphs, a soft hyphen and a tag character.
const EVIL =
  "x\u001b[2J\u001b]0;owned\u0007\u009b31m\u202egnp\r\ty\u2028\u2029\u007f\u00ad\u{e0041}z";
const LINES = `${EVIL}\nworker: done\n${EVIL}`;
// JSON forbids C0 characters in strings, so ESC is written as an escape.
const PAYLOAD = `{\n\t"a": "\\u001b[2J \u009b31m \u202e \u007f \u2028 \\ud800",\r\n "n": 9007199254740993}`;

let env: { DATABASE_URL: string };
let client: pg.Client;
const sql = (text: string, values: unknown[] = []) => client.query(text, values);
after(() => client.end());

before(async () => {
  const { url } = await migratedDatabase();
  env = { DATABASE_URL: url };
  client = new pg.Client(url);
  await client.connect();
});

/** Fills the tables with hostile texts. Job 1 is ready, job 2 has failed, job 3 is locked. */
async function fill(): Promise<void> {
  await sql(
    "truncate worker._private_jobs, worker._private_job_queues, worker._private_tasks, worker._private_workers restart identity",
  );
  for (const n of [1, 2, 3]) {
    await sql(
      `select worker.add_job(identifier => $1, payload => $2, queue_name => $3, job_key => $4, flags => $5)`,
      [`task ${EVIL}`, PAYLOAD, `queue ${n} ${LINES}`, `k${n} ${LINES}`, [`flag ${EVIL}`]],
    );
  }
  await sql("update worker._private_jobs set last_error = $1", [LINES]);
  await sql("update worker._private_jobs set attempts = 25 where id = 2");
  await sql(
    "update worker._private_jobs set locked_at = now() - interval '1 hour', locked_by = $1 where id = 3",
    [`worker ${LINES}`],
  );
  await sql(
    "update worker._private_job_queues set locked_at = now() - interval '1 hour', locked_by = $1 where queue_name like 'queue 3%'",
    [`worker ${LINES}`],
  );
  await sql(
    `insert into worker._private_known_crontabs (identifier, known_since, last_execution)
     values ($1, now(), now()) on conflict do nothing`,
    [`cron ${LINES}`],
  );
  await sql(
    `insert into worker._private_workers (id, last_heartbeat_at, metadata)
     values ($1, now() - interval '1 hour', $2)`,
    [`worker ${LINES}`, JSON.stringify({ host: LINES })],
  );
}

async function takenPort(): Promise<number> {
  const server = createServer().unref();
  await once(server.listen(0, "127.0.0.1"), "listening");
  return (server.address() as AddressInfo).port;
}

// The folder has the task of the jobs, for `worker run`. The file `lines` has an invalid line, for add-many and
// --crontab.
const folder = mkdtempSync(join(tmpdir(), "worker-hostile-"));
after(() => rmSync(folder, { recursive: true }));
const program = `#!/bin/sh\nprintf '%s\\n' '${LINES}' >&2\nexit 3\n`;
writeFileSync(join(folder, `task ${EVIL}`), program, { mode: 0o755 });
const lines = join(mkdtempSync(join(folder, ".lines-")), EVIL);
writeFileSync(lines, `${JSON.stringify({ task: EVIL, payload: LINES })}\n{"task": ${EVIL}}\n`);

const calls: Readonly<Record<string, readonly (readonly string[])[]>> = {
  status: [[]],
  list: [[], ["--state", "locked"], ["--search", EVIL]],
  count: [[], ["is:failed"], [EVIL]],
  // No call exports to stdout: exported data is escaped only on a terminal, and here stdout is not a terminal.
  export: [
    ["--output", "/dev/null"],
    ["--output", `no such folder ${EVIL}/x`],
  ],
  show: [["1"], ["2"], ["3"], [`9${EVIL}`]],
  why: [["1"], ["2"], ["3"], [`9${EVIL}`]],
  queues: [[]],
  tasks: [[], ["--search", EVIL]],
  workers: [[]],
  cron: [[], ["--search", EVIL]],
  // A valid watch --json would run until it is stopped.
  watch: [["--interval", EVIL]],
  doctor: [[]],
  healthcheck: [[EVIL], [`http://127.0.0.1:1/${EVIL}`]],
  operations: [[], ["1"], [EVIL], ["1", "undo"]],
  add: [
    [EVIL, PAYLOAD, "--key", LINES, "--queue", EVIL],
    [`t ${EVIL}`, PAYLOAD, "--key", `k1 ${LINES}`, "--key-mode", "unsafe-dedupe"],
    [EVIL, "--run-at", EVIL],
  ],
  "add-many": [[lines], [`no such folder ${EVIL}/x`]],
  run: [
    ["--once", "--tasks", folder],
    ["--once", "--tasks", EVIL],
    ["--once", "--tasks", folder, "--crontab", lines],
  ],
  pause: [
    ["queue", EVIL, "--reason", LINES],
    ["task", LINES],
  ],
  paused: [[]],
  resume: [["queue", EVIL]],
  cancel: [["1", "3", "9"], ["1", "--reason", LINES], [EVIL]],
  schedule: [
    ["add", EVIL, "--task", EVIL, "--cron", "0 3 * * *"],
    ["add", `s ${LINES}`, "--task", LINES, "--cron", EVIL],
    ["list"],
    ["run", EVIL],
    ["remove", LINES],
  ],
  limit: [
    ["set", EVIL, "--task", EVIL, "--concurrency", "3"],
    ["set", LINES, "--queue", LINES, "--rate", "5/s"],
    ["set", EVIL, "--task", "x", "--rate", EVIL],
    ["list"],
    ["show", LINES],
    ["end-back-off", EVIL],
    ["remove", LINES],
  ],
  limits: [[]],
  complete: [["1", "3", "9"], [EVIL]],
  fail: [["1", "--reason", LINES]],
  "run-now": [["1", "2"]],
  retry: [["2", "3"]],
  "stop-retrying": [["1", "3", "9"], [EVIL]],
  reschedule: [["1", "--run-at", "+10m"]],
  remove: [[`k1 ${LINES}`], [`k3 ${LINES}`], [`none ${LINES}`]],
  unlock: [[`worker ${LINES}`]],
  sweep: [["--dry-run"], []],
  cleanup: [["--all"]],
  migrate: [[], ["--schema", `s ${EVIL}`], [`--with-indexes=${EVIL}`]],
  "add-extension": [["workers"], [EVIL]],
  "build-index": [["failed"], [EVIL]],
  "cancel-index": [["failed"]],
  "drop-index": [["failed"]],
  admin: [
    ["--auth", EVIL],
    ["--listen", EVIL],
    // With a free port, the admin would start although the schema does not exist, and this call would not end.
    ["--schema", `none ${EVIL}`, "--listen", `127.0.0.1:${await takenPort()}`],
  ],
  demo: [["--data-dir", `/dev/null/${EVIL}`]],
};

function assertHarmless({ stdout, stderr }: CommandResult, what: string): void {
  for (const text of [stdout, stderr]) {
    const found = /(?!\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.exec(text);
    assert.equal(found, null, `${what}: ${JSON.stringify(text)}`);
  }
}

const ownWords = ["completion", "licenses", "man"];

test("Every command is called by these tests, or reads no database and has no argument for free text.", () => {
  const names = [...Object.keys(calls), ...ownWords];
  assert.deepEqual(commands.map(({ name }) => name).sort(), names.sort());
});

test("Output of worker watch cannot control a terminal.", async () => {
  await fill();
  const result = await worker(["watch"], env);
  assert.match(result.stdout, /owned/);
  assertHarmless(result, "watch");
});

for (const [name, lists] of Object.entries(calls)) {
  test(`Output of worker ${name} cannot control a terminal.`, async () => {
    // These commands write log lines, which runInChild() does not collect, or wait for signals.
    const own = ["admin", "demo", "migrate", "export", "run", "watch", "add-many"];
    const run = own.includes(name) ? worker : runInChild;
    await fill();
    const reads = [
      "status",
      "list",
      "count",
      "export",
      "show",
      "why",
      "queues",
      "tasks",
      "workers",
    ];
    const destroys = ![...reads, "cron", "watch", "doctor", "healthcheck"].includes(name);
    for (const args of lists) {
      for (const more of [[], ["--json"], ["--verbose"]]) {
        if (destroys) await fill();
        const result = await run([name, ...args, ...more], env);
        assert.ok(result.stdout + result.stderr !== "", name);
        assertHarmless(result, `${name} ${more}`);
        if (more.includes("--json")) assertJson(result, ["admin", "run"].includes(name));
      }
    }
  });
}

function assertJson({ stdout, stderr }: CommandResult, hasLog: boolean): void {
  for (const text of [stdout, stderr].filter((one) => one !== "")) {
    const lines = text.trimEnd().split("\n");
    if (!hasLog) assert.equal(lines.length, 1, text);
    for (const line of lines) JSON.parse(line);
  }
}

test("JSON output has exactly the stored text, with control characters as escapes.", async () => {
  await fill();
  const { stdout } = await runInChild(["show", "1", "--json"], env);
  assert.match(stdout, /"n": 9007199254740993/);
  const job = JSON.parse(stdout);
  assert.equal(job.payload.a, JSON.parse(PAYLOAD).a);
  assert.deepEqual([job.key, job.last_error], [`k1 ${LINES}`, LINES]);
});

test("The lines of a last error are indented, so that none of them looks like output of the command itself.", async () => {
  await fill();
  const { stdout } = await runInChild(["show", "1"], env);
  assert.match(stdout, /last error:\n {2}x\\u001b\[2J.*\n {2}worker: done\n/);
});

test("Hostile text in unknown commands, options and arguments is escaped, too.", async () => {
  for (const args of [[EVIL], ["list", `--${EVIL}`], ["list", EVIL], ["show", EVIL]]) {
    assertHarmless(await runInChild(args, env), String(args));
  }
});
