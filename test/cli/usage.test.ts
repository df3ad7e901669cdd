// Tests the command line: the order of arguments, aliases of options, spellings of times, messages for mistakes, the
// help and the exit statuses.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { before, test } from "node:test";
import { duration, moment } from "../../src/cli/arguments/times.ts";
import { commands } from "../../src/cli/commands/index.ts";
import { migratedDatabase } from "../support/database.ts";
import { command, runInChild, runner, worker } from "./command.ts";

let env: { DATABASE_URL: string };
before(async () => {
  env = { DATABASE_URL: (await migratedDatabase()).url };
});

interface ListedJob {
  readonly id: number;
  readonly task_identifier: string;
  readonly run_at: string;
  readonly created_at: string;
}

async function jobsOf(...filter: string[]): Promise<ListedJob[]> {
  const result = await runInChild(["list", "--json", ...filter], env);
  assert.equal(result.status, 0, result.stderr);
  return JSON.parse(result.stdout).jobs;
}

test("Global options can precede the command.", async () => {
  const result = await runInChild(["--schema", "worker", "--json", "stats"], env);
  assert.equal(result.status, 0, result.stderr);
  assert.equal(JSON.parse(result.stdout).total, 0);
  const none = await runInChild(["--schema", "worker", "run-now", "1"], env);
  assert.match(none.stdout, /0 of 1 job/);
});

test("Space around DATABASE_URL is ignored.", async () => {
  const padded = { DATABASE_URL: `  ${env.DATABASE_URL}\n` };
  assert.equal((await runInChild(["status"], padded)).status, 0);
});

test("PostgreSQL's own environment variables apply if DATABASE_URL is not set.", async () => {
  const url = new URL(env.DATABASE_URL.replace("///", "//localhost/"));
  const of = (name: string) => url.searchParams.get(name);
  const result = await worker(["status", "--json"], {
    PGHOST: of("host") ?? url.hostname,
    PGPORT: of("port") ?? url.port,
    PGUSER: of("user") ?? url.username,
    PGPASSWORD: url.password,
    PGDATABASE: url.pathname.slice(1),
  });
  assert.deepEqual([result.stderr, result.status], ["", 0]);
});

const refusals: [args: string[], message: RegExp][] = [
  [["lst"], /unknown command "lst"; did you mean "list"\?/],
  [["run-no"], /unknown command "run-no"; did you mean "run-now"\?/],
  [["serve"], /unknown command "serve"; see/],
  [["completion"], /<shell> is missing: shell; see "worker completion --help"/],
  [["fial", "1"], /unknown command "fial"; see/],
  [["remov", "k"], /unknown command "remov"; see/],
  [["cleanu"], /unknown command "cleanu"; see/],
  [["list", "--__proto__.x"], /list has no option --__proto__\.x/],
  [["list", "--__proto__"], /list has no option --__proto__; see/],
  [["list", "--constructor"], /list has no option --constructor; see/],
  [["list", "--$0"], /list has no option --\$0; see/],
  [["complete", "--_", "1"], /complete has no option --_; see/],
  [["complete", "1", "--y"], /complete has no option --y; see/],
  [["complete", "1", "-Y"], /complete has no option -Y; see/],
  [["remove", "---"], /remove has no option ---; see/],
  [["list", "--no-limit"], /list has no option --no-limit; see/],
  [["list", "--lmit", "3"], /list has no option --lmit; did you mean "--limit"\?/],
  [["cleanup", "--al"], /no option --al; see/],
  [["add", "t", "--run-at"], /--run-at needs a value/],
  [["add", "t", "--queue", "--json"], /--queue needs a value/],
  [["add", "t", "--queue", "--jsn"], /--queue needs a value; see "worker add --help"/],
  [["admin", "--listen"], /--listen needs a value/],
  [["list", "--json=yes"], /--json takes no value/],
  [["show"], /<id> is missing: job id; see "worker show --help"/],
  [["complete"], /<ids> is missing: job ids, or one query/],
  [["unlock"], /<worker-ids> is missing/],
  [["pause", "queue"], /<name> is missing: the name of the queue; see "worker pause --help"/],
  [["resume", "task"], /<name> is missing: the name of the task; see "worker resume --help"/],
  [["show", "1", "2"], /show: unexpected argument "2"/],
  [["cleanup"], /give --task, or --all for everything/],
  [["cleanup", "--all", "--task", "gc-job-queues"], /use either --all or --task/],
  [["list", "--state", "odd"], /--state: must be one of all, /],
  [["demo", "--schema", "x"], /demo does not support --schema: it has its own database/],
  [["--database-url", "postgres://x", "demo"], /demo does not support --database-url/],
  [["add", "t", "{}", "--payload-file", "x"], /use either <payload> or --payload-file/],
];
for (const [args, message] of refusals) {
  test(`worker ${args.join(" ")} is rejected with status 2 and a message.`, async () => {
    const result = await runInChild(args, env);
    assert.match(result.stderr, message);
    assert.deepEqual([result.status, result.stdout], [2, ""]);
  });
}

const badValues: [args: string[], message: RegExp][] = [
  [["list", "--limit", "501"], /--limit: must be a whole number from 0 to 500/],
  [["list", "--limit", "x"], /--limit: must be a whole number/],
  [["complete", "--yes", "1", "0"], /<ids> "0": must be a job id/],
  [["complete", "--yes", "tusk:abc"], /the query: unknown field "tusk", did you mean "task"/],
  [["show", "abc"], /<id>: must be a job id/],
  [["add", " ", "{}"], /<identifier>: must not be blank/],
  [["add", "t", "--key-mode", "replace"], /--key-mode: needs a key/],
  [
    ["reschedule", "1"],
    /at least one of --run-at, --shift, --spread, --priority, --attempts and --max-attempts/,
  ],
  [["reschedule", "1", "--run-at", "soon"], /--run-at: must be "now", a time from now/],
  [["sweep", "--threshold", "soon"], /--threshold: must be a duration such as 30s/],
  [["add", "t", "--payload-file", "/no/such/file"], /--payload-file: cannot be read: ENOENT/],
  [["add", "t", "--payload-file", "/dev/null"], /--payload-file: is not JSON/],
  [["add", "t", "{"], /<payload>: is not JSON/],
];
for (const [args, message] of badValues) {
  test(`worker ${args.join(" ")} is rejected with status 1 and a message.`, async () => {
    const result = await runInChild(args, env);
    assert.match(result.stderr, message);
    assert.deepEqual([result.status, result.stdout], [1, ""]);
  });
}

test("A payload can be piped, or read from a file; only its last newline is removed.", async () => {
  const text = ' {"b": 9007199254740993, "b":1} ';
  const path = join(mkdtempSync(join(tmpdir(), "worker-cli-")), "payload.json");
  writeFileSync(path, `${text}\n`);
  const added = [
    await worker(["add", "piped", "-"], env, `${text}\r\n`),
    await runInChild(["add", "piped", "--payload-file", path], env),
    await worker(["add", "piped", "--payload-file", "-"], env, text),
    await runInChild(["add", "--identifier", "piped", text], env),
    await runInChild(["add", "--task", "piped", "--payload", text], env),
  ];
  for (const { status, stderr } of added) assert.equal(status, 0, stderr);
  const { stdout } = await runInChild(["list", "--identifier", "piped", "--json"], env);
  assert.equal(stdout.split(`"payload":${text},"priority"`).length - 1, added.length, stdout);
  assert.equal(stdout.trimEnd().split("\n").length, 1);
  const broken = await worker(["add", "piped", "-"], env, "");
  assert.match(broken.stderr, /payload.*JSON/);
});

test("The option --run-at accepts a time, a duration from now, and now. The present time is the time of the database's clock.", async () => {
  const ahead: [args: string[], seconds: number][] = [
    [["--run-at", "now"], 0],
    [["--now"], 0],
    [["--run-at", "+10m"], 600],
    [["--run-at", "in 2h"], 7_200],
    [["--run-at=30s"], 30],
  ];
  for (const [args, seconds] of ahead) {
    const result = await runInChild(["add", "timed", "{}", ...args, "--json"], env);
    assert.equal(result.status, 0, result.stderr);
    const [job] = JSON.parse(result.stdout).jobs as ListedJob[];
    const after = (Date.parse(job?.run_at ?? "") - Date.parse(job?.created_at ?? "")) / 1_000;
    assert.ok(Math.abs(after - seconds) < 5, `${args}: ${after} s`);
  }
  const [first] = await jobsOf("--task", "timed");
  const id = String(first?.id);
  await runInChild(["reschedule", id, "--run-at", "2030-01-02T03:04:05Z"], env);
  assert.equal((await jobsOf("--task", "timed"))[0]?.run_at, "2030-01-02T03:04:05.000Z");
  await runInChild(["reschedule", id, "--now"], env);
  assert.ok(Date.parse((await jobsOf("--task", "timed"))[0]?.run_at ?? "") < Date.now() + 5_000);
});

test("Durations and moments are accepted in all usual spellings; other texts are rejected.", () => {
  const spans: [string, number][] = [
    ["30s", 30_000],
    ["5m", 300_000],
    ["1h30m", 5_400_000],
    ["1 day 2 hours", 93_600_000],
    ["1.5h", 5_400_000],
    ["90", 90_000],
    ["250ms", 250],
    ["0", 0],
  ];
  for (const [text, ms] of spans) assert.equal(duration(text), ms, text);
  for (const text of ["", "m", "-5m", "5x", "1e9", "5m30", "366d", "now"]) {
    assert.throws(() => duration(text), /must be a duration/, text);
  }
  assert.deepEqual(moment("IN 2h"), { afterMs: 7_200_000 });
  assert.deepEqual(moment("+10m"), { afterMs: 600_000 });
  assert.equal(moment(" Now "), "now");
  for (const text of [
    "",
    "10",
    "+10",
    "soon",
    "2026-02-31",
    "25:00",
    "9",
    "tomorrow09:00",
    "09:00 tomorrow",
    "in",
    "2026-02-31T00:00:00Z",
  ]) {
    assert.throws(() => moment(text), /must be "now"/, text);
  }
});

test("A day or a time without a zone is in the time zone of the process. A time without a day means its next occurrence.", async () => {
  const typed = async (runAt: string, TZ: string) => {
    const result = await runInChild(["add", "walled", "{}", "--run-at", runAt], { ...env, TZ });
    assert.equal(result.status, 0, result.stderr);
    const [job] = (await jobsOf("--task", "walled", "--sort=-id")) as ListedJob[];
    return { at: job?.run_at, note: result.stderr };
  };
  const berlin = await typed("2031-07-01", "Europe/Berlin");
  assert.equal(berlin.at, "2031-06-30T22:00:00.000Z");
  assert.match(berlin.note, /^--run-at: Tue, 1 Jul 2031, 00:00:00 (CEST|GMT\+2)$/m);
  assert.equal((await typed("2031-01-01 9:30", "Asia/Kolkata")).at, "2031-01-01T04:00:00.000Z");
  const dayOf = (ms: number) => new Date(ms).toISOString().slice(0, 10);
  const tomorrow = dayOf(Date.now() + 86_400_000);
  assert.equal((await typed("tomorrow 09:00", "UTC")).at, `${tomorrow}T09:00:00.000Z`);
  const clock = new Date(Date.now() - 3_600_000).toISOString().slice(11, 16);
  const next = Date.parse((await typed(clock, "UTC")).at ?? "") - Date.now();
  assert.ok(next > 82_000_000 && next < 86_400_000, `the next occurrence is ${next} ms ahead`);
});

test("The times of jobs, given by ids or by a query, can be moved forwards or back, and can be spread over a period.", async () => {
  const added = await runInChild(["add", "moved", "{}", "--run-at", "2031-01-01T00:00:00Z"], env);
  assert.equal(added.status, 0, added.stderr);
  const id = String((await jobsOf("--task", "moved"))[0]?.id);
  const timeAfter = async (...args: string[]) => {
    const result = await runInChild(["reschedule", ...args], env);
    assert.equal(result.status, 0, result.stderr);
    return { at: (await jobsOf("--task", "moved"))[0]?.run_at ?? "", out: result.stdout };
  };
  assert.equal((await timeAfter(id, "--shift", "2h")).at, "2031-01-01T02:00:00.000Z");
  assert.equal((await timeAfter(id, "--shift=-2h30m")).at, "2030-12-31T23:30:00.000Z");
  const shifted = await timeAfter("task:moved", "--shift=+30m", "--yes", "--with-operations");
  assert.equal(shifted.at, "2031-01-01T00:00:00.000Z");
  assert.match(shifted.out, /run at: the first 2031-01-01T00:00:00.000Z, the last 2031/);
  const { at } = await timeAfter(id, "--run-at", "2032-01-01T00:00:00Z", "--spread", "1h");
  assert.match(at, /^2032-01-01T00:/);
  const both = await runInChild(["reschedule", id, "--now", "--shift", "1h"], env);
  assert.match(
    both.stderr,
    /shift.*moves each job from its own time, so it cannot be combined with --run-at/,
  );
});

test("Key modes are accepted with underscores and with hyphens. Commands and options are also accepted under their names in graphile_worker_rs.", async () => {
  for (const mode of ["preserve_run_at", "preserve-run-at"]) {
    const result = await runInChild(["add", "keyed", "--key", "m", "--key-mode", mode], env);
    assert.equal(result.status, 0, result.stderr);
  }
  const lines = [
    ["sweep-stale-workers", "--sweep-threshold", "5m", "--recovery-delay", "30s", "--dry-run"],
    ["list", "--identifier", "keyed", "--offset", "1"],
    ["sweep", "--threshold", "300", "--delay", "1m", "--yes"],
  ];
  for (const args of lines) {
    const result = await runInChild(args, env);
    assert.equal(result.status, 0, result.stderr);
  }
  assert.match(
    (await runInChild(["force-unlock", "--yes", "absent"], env)).stdout,
    /there is no worker "absent"/,
  );
});

test("-h and help print the same help, whose first lines have no URL, and -v prints the version.", async () => {
  const help = await runInChild(["-h"]);
  assert.equal(help.stdout, (await runInChild(["help"])).stdout);
  assert.doesNotMatch(help.stdout.split("\n").slice(0, 4).join("\n"), /https?:/);
  for (const { name } of commands) assert.match(help.stdout, new RegExp(`^ {2}${name} `, "m"));
  assert.match(help.stdout, /3 partly done/);
  assert.match((await runInChild(["help", "sweep"])).stdout, /--dry-run/);
  assert.match((await runInChild(["sweep", "--help"])).stdout, /^worker sweep \[options\]/);
  assert.equal((await runInChild(["-v"])).stdout, (await runInChild(["--version"])).stdout);
});

test("A help option prints the help and does nothing else, wherever it is in the command line. The word help as an argument has no such effect.", async () => {
  const { stdout } = await runInChild(["add", "help", "--json"], env);
  const [job] = JSON.parse(stdout).jobs as ListedJob[];
  assert.equal(job?.task_identifier, "help");
  const help = (await runInChild(["complete", "--help"])).stdout;
  const id = String(job?.id);
  for (const args of [
    ["-h", "complete", id],
    ["complete", id, "-yh"],
    ["complete", "--key", "-h"],
  ]) {
    assert.equal((await runInChild(args, env)).stdout, help, String(args));
  }
  assert.equal((await runInChild(["show", id], env)).status, 0);
});

test("Any option may precede the command, and text that looks like a number stays text.", async () => {
  const result = await runInChild(
    ["--flag", "list", "--now", "add", "007", "--key", "1e3", "--json"],
    env,
  );
  assert.equal(result.status, 0, result.stderr);
  const [job] = JSON.parse(result.stdout).jobs;
  assert.deepEqual([job.task_identifier, job.key], ["007", "1e3"]);
  assert.deepEqual((await jobsOf("--task", "007")).length, 1);
});

test("The help shows an option's values, its aliases and its default, in columns.", async () => {
  const add = (await runInChild(["add", "--help"])).stdout;
  assert.match(
    add,
    /^worker add <identifier> \[payload\] \[options\]\n\nAdd a job\n\nArguments:\n/,
  );
  assert.match(add, /^ +--run-at +<time> Not before this time +\[default: now\]$/m);
  assert.match(add, /^ +--key, --job-key +<text>/m);
  assert.match(add, /also: --identifier, --task/);
  const demo = (await runInChild(["demo", "--help"])).stdout;
  assert.match(demo, /--no-worker/);
  assert.doesNotMatch(demo, /--database-url|--schema/);
  for (const words of [[], ...commands.map(({ name }) => [name])]) {
    const { stdout } = await runInChild([...words, "--help"]);
    assert.doesNotMatch(stdout, /\S\[(default|aliases|boolean)/, String(words));
  }
});

test("The exit status is 0 if all jobs were changed, 3 if only some were, and 1 if none was.", async () => {
  const { stdout } = await runInChild(["add", "partly", "--json"], env);
  const id = String(JSON.parse(stdout).jobs[0].id);
  const partly = await runInChild(["fail", "--yes", id, "999998"], env);
  assert.deepEqual([partly.status, /1 of 2 jobs/.test(partly.stdout)], [3, true]);
  assert.equal((await runInChild(["retry", id], env)).status, 0);
  assert.equal((await runInChild(["complete", "--yes", "999998"], env)).status, 1);
});

test("A command works in a working directory that has been removed.", () => {
  const gone = mkdtempSync(join(tmpdir(), "worker-usage-"));
  const words = [runner, ...command, "status"];
  const script = 'cd "$0" && rmdir "$0" && exec "$@"';
  const { status, stderr } = spawnSync("sh", ["-c", script, gone, ...words], {
    env: { ...process.env, ...env },
    encoding: "utf8",
  });
  assert.equal(status, 0, stderr);
});

test("A message about a value has the name of the option as it was typed, aliases included.", async () => {
  for (const [words, name] of [
    [["add", "--task", " "], "--task"],
    [["add", "--identifier= "], "--identifier"],
    [["add", " "], "<identifier>"],
  ] as const) {
    const { status, stderr } = await runInChild(words, env);
    assert.deepEqual([status, stderr], [1, `worker: ${name}: must not be blank\n`]);
  }
});
