// Tests the output of commands with --json: its names and ids, and that `watch` continues after an outage. Also tests
// texts of `sweep` and `add`, and two rules for the arguments and options of all commands.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { after, before, test } from "node:test";
import pg from "pg";
import { commands } from "../../src/cli/commands/index.ts";
import { commands as declarations } from "../../src/commands/index.ts";
import { migratedDatabase } from "../support/database.ts";
import { command, runInChild, runner } from "./command.ts";

let env: { DATABASE_URL: string };
let client: pg.Client;
before(async () => {
  const { url } = await migratedDatabase();
  env = { DATABASE_URL: url };
  client = new pg.Client(url);
  await client.connect();
});
after(() => client.end());

async function json(...args: string[]) {
  const result = await runInChild([...args, "--json"], env);
  assert.equal(result.stderr, "");
  return JSON.parse(result.stdout);
}

/** Adds a job to a queue, and locks all jobs and queues for a stale worker. */
async function addStale(): Promise<void> {
  await runInChild(["add", "t", "{}", "--queue", "q"], env);
  await client.query(
    `update worker._private_jobs set locked_at = now() - interval '1 hour', locked_by = 'gone'`,
  );
  await client.query(
    `update worker._private_job_queues set locked_at = now() - interval '1 hour', locked_by = 'gone'`,
  );
  await client.query(
    `insert into worker._private_workers (id, last_heartbeat_at, metadata)
     values ('gone', now() - interval '1 hour', '{"hostName": "h"}') on conflict do nothing`,
  );
}

/** Returns the names of all members, except inside payloads, flags and metadata, whose members may have any names. */
function names(value: unknown): string[] {
  if (typeof value !== "object" || value === null) return [];
  if (Array.isArray(value)) return value.flatMap(names);
  const stored = ["payload", "flags", "metadata"];
  return Object.entries(value).flatMap(([name, member]) =>
    stored.includes(name) ? [name] : [name, ...names(member)],
  );
}

test("In JSON output all names are in snake case, and ids of jobs are integers.", async () => {
  await addStale();
  const answers = [
    await json("add", "t", '{"camelCase": 1}', "--key", "k"),
    await json("status"),
    await json("list"),
    await json("show", "1"),
    await json("queues"),
    await json("workers"),
    await json("run-now", "2"),
    await json("fail", "2", "999", "--yes"),
    await json("retry", "2"),
    await json("reschedule", "2", "--priority", "3"),
    await json("sweep", "--dry-run"),
    await json("unlock", "absent", "--yes"),
    await json("cleanup", "--task", "gc-job-queues", "--yes"),
    await json("remove", "k", "--yes"),
    await json("migrate"),
  ];
  for (const answer of answers) {
    for (const name of names(answer)) assert.match(name, /^[a-z_]+$/);
  }
  const [added, , listed, shown, queues, workers] = answers;
  for (const job of [...added.jobs, ...listed.jobs, shown]) assert.equal(typeof job.id, "number");
  assert.deepEqual(
    [queues.queues[0].queue_name, queues.queues[0].locked_count, workers.workers[0].worker_id],
    ["q", 1, "gone"],
  );
  assert.deepEqual(workers.active_workers[0].metadata, { hostName: "h" });
});

test("A dry run of a sweep reports what the sweep then recovers.", async () => {
  await addStale();
  const locked = (await json("status")).locked;
  assert.ok(locked > 0);
  const would = await runInChild(["sweep", "--dry-run"], env);
  assert.match(would.stdout, new RegExp(`Would recover ${locked} jobs? of 1 `));
  assert.match(would.stdout, /Stale workers: gone/);
  assert.equal((await json("status")).locked, locked);
  assert.match(
    (await runInChild(["sweep", "--yes"], env)).stdout,
    new RegExp(`${locked} jobs? recovered`),
  );
  assert.equal((await json("status")).locked, 0);
});

test("Adding a job with an existing key reports that the job was updated, or that nothing was added.", async () => {
  const add = async (...mode: string[]) =>
    (await runInChild(["add", "t", "{}", "--key", "taken", ...mode], env)).stdout;
  assert.match(await add(), /^Added job \d+/);
  assert.match(await add("--key-mode", "unsafe_dedupe"), /^Nothing was added: job \d+ has the key/);
  assert.match(await add(), /^Updated job \d+/);
});

test("Each declared command is on the command line, with an argument or option for each field that is not hidden.", () => {
  for (const { name, fields, http } of declarations) {
    // On the command line all actions on schedules are one command, and so are all actions on limits.
    const groups: Record<string, string> = { "/api/schedules": "schedule", "/api/limits": "limit" };
    const typedName = groups[http.path] ?? name;
    const command = commands.find((one) => one.name === typedName);
    assert.ok(command, name);
    const typed = Object.values({ ...command.positionals, ...command.options }).map(
      (one) => one.field,
    );
    for (const [field, { isHidden }] of Object.entries(fields)) {
      assert.equal(typed.includes(field), isHidden !== true, `${name} ${field}`);
    }
  }
});

test("Whether an option takes a value does not depend on the command, because the option may precede the command.", () => {
  const forms = new Map<string, boolean>();
  for (const { name, options } of commands) {
    for (const [key, { form }] of Object.entries(options)) {
      assert.equal(forms.get(key) ?? form === null, form === null, `${name} --${key}`);
      forms.set(key, form === null);
    }
  }
});

test("watch --json continues after an outage of the database, and reports the outage on stderr.", async () => {
  const { url } = await migratedDatabase();
  const { PATH = "", HOME = "" } = process.env;
  const child = spawn(runner, [...command, "watch", "--json", "--interval", "500ms"], {
    env: { PATH, HOME, DATABASE_URL: url },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const ended = once(child, "close");
  const readings = createInterface(child.stdout)[Symbol.asyncIterator]();
  const problems = createInterface(child.stderr)[Symbol.asyncIterator]();
  await readings.next();
  const name = new URL(url).pathname.slice(1);
  const isOpen = (open: boolean) =>
    client.query(`alter database "${name}" allow_connections ${open}`);
  await isOpen(false);
  await client.query("select pg_terminate_backend(pid) from pg_stat_activity where datname = $1", [
    name,
  ]);
  assert.equal(typeof JSON.parse((await problems.next()).value ?? "").code, "string");
  await isOpen(true);
  // The pipe may still contain output from before the outage.
  const asOf = () =>
    readings.next().then(({ value }) => Date.parse(JSON.parse(value ?? "").counts.as_of));
  const openedMs = Date.now();
  while ((await asOf()) < openedMs);
  child.kill("SIGTERM");
  assert.deepEqual(await ended, [0, null]);
});
