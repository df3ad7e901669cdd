// A suggestion is a command in the output of `worker`, for the user to run next. The tests run suggestions exactly as
// they are printed; only --yes is added if the command needs a confirmation.
import assert from "node:assert/strict";
import { before, test } from "node:test";
import type pg from "pg";
import { sameQueue } from "../../../src/cli/shell/same-queue.ts";
import { operationActions } from "../../../src/commands/operations/model/action.ts";
import { emptyDatabase } from "../../support/database.ts";
import { testPool } from "../../support/test-pool.ts";
import { type CommandResult, runInChild, worker } from "../command.ts";
import { filesOf } from "../run-harness.ts";
import {
  inShell,
  printedAs,
  programsToPaste,
  type Source,
  sources,
  suggestedCommands,
  wordsOf,
} from "../suggested.ts";

const SCHEMA = "billing ops";
const S = `"${SCHEMA}"`;
const followed: string[] = [];

let url = "";
let pool: pg.Pool;
let programs = "";
let closing: () => Promise<void>;
test.after(() => closing());

/** No environment variable has the database or the schema, so suggestions must have both. */
const run = (...args: string[]) =>
  runInChild([args[0] ?? "", "-c", url, "--schema", SCHEMA, ...args.slice(1)]);
const sql = (text: string, values?: unknown[]) => pool.query(text, values);

before(async () => {
  url = (await emptyDatabase()).url;
  ({ pool, close: closing } = testPool(url));
  programs = programsToPaste();
  for (const schema of ["worker", SCHEMA]) {
    const made = await runInChild(["migrate", "--with-operations", "-c", url, "--schema", schema]);
    assert.equal(made.status, 0, made.stderr);
  }
  await sql("select worker.add_job('other') from generate_series(1, 50)");
});

const others = async () => [
  (await sql("select * from worker._private_jobs order by id")).rows,
  (await sql("select * from worker._private_operations")).rows,
];

/** Runs each suggestion in a command's output, and returns the suggestions. The schema `worker` must stay unchanged. */
async function follow(result: CommandResult, env: Record<string, string> = {}): Promise<string[]> {
  const lines = suggestedCommands(result);
  for (const line of lines) {
    const kept = await others();
    const isOne = line.startsWith("worker ") && !line.includes(" && ");
    const done = isOne
      ? await runInChild([...wordsOf(line).slice(1), ...yes(line)], env)
      : inShell(line, programs, env);
    assert.ok(done.status !== 2 && done.status !== 127, `${line}: ${done.stderr}`);
    assert.doesNotMatch(done.stderr, /no schema|cannot reach|DATABASE_URL/, line);
    assert.deepEqual(await others(), kept, line);
    followed.push(...line.split(" && "));
  }
  return lines;
}

const yes = (line: string) =>
  /^worker (?:fail|complete|cancel|remove|unlock|sweep|cleanup)\b/.test(line) ? ["--yes"] : [];

async function add(task: string, change = "", more = "max_attempts => 25"): Promise<string> {
  const { rows } = await sql(`select id from ${S}.add_job($1, ${more})`, [task]);
  const id = String(rows[0].id);
  if (change !== "") await sql(`update ${S}._private_jobs set ${change} where id = ${id}`);
  return id;
}

const LOCKED = "locked_at = now() - interval '5 hours', locked_by = 'gone'";

/** Each function creates a situation, and returns the results of commands that print suggestions. */
const cases: Record<string, () => Promise<readonly CommandResult[]>> = {
  // This case comes first, because its suggestions add tables that later cases need.
  "commands whose tables are missing": async () => [
    await run("pause", "task", "mail"),
    await run("schedule", "add", "nightly", "--task", "mail", "--cron", "0 3 * * *"),
    await run("limit", "set", "mail", "--task", "mail", "--concurrency", "1"),
  ],
  "worker why, for jobs with different problems": async () => {
    const failed = await add("f", "attempts = max_attempts, last_error = 'Error: x'");
    const later = await add("l", "run_at = now() + interval '1 day'");
    const held = await add("h", "", "queue_name => 'held'");
    const behind = await add("h", "", "queue_name => 'held'");
    await sql(`update ${S}._private_jobs set ${LOCKED} where id = ${held};
      update ${S}._private_job_queues set ${LOCKED} where queue_name = 'held'`);
    const lost = await add("q", "", "queue_name => 'lost'");
    const taskless = await add("gone");
    await sql(`delete from ${S}._private_job_queues where queue_name = 'lost';
      delete from ${S}._private_tasks where identifier = 'gone'`);
    return Promise.all([failed, later, behind, lost, taskless].map((id) => run("why", id)));
  },
  "previews of every action": () =>
    Promise.all(
      operationActions.map(async (action) => {
        await add(action, "attempts = 1");
        const change = action === "reschedule" ? ["--priority", "3"] : [];
        const q = `task:${action}`;
        const words = action === "remove" ? [`--query=${q}`] : [q];
        return run(action, ...words, ...change, "--dry-run");
      }),
    ),
  "receipts, and an operation that was paused": async () => {
    const id = await add("receipt", "attempts = max_attempts");
    const receipt = await run("retry", id);
    await sql(`update ${S}._private_operations set state = 'paused'`);
    const { rows } = await sql(`select max(id) as id from ${S}._private_operations`);
    return [receipt, await run("operations", String(rows[0].id))];
  },
  "incidents, locks, rejected results, an unfinished index": async () => {
    await add("poison", "attempts = 8, last_error = 'Recovered 8 times in a row: it ended'");
    for (let n = 0; n < 3; n++) await add("e", "attempts = max_attempts, last_error = 'Error: x'");
    const held = await add("s", "", "queue_name => 'stuck'");
    await add("s", "", "queue_name => 'stuck'");
    await sql(`update ${S}._private_jobs set ${LOCKED} where id = ${held};
      update ${S}._private_job_queues set ${LOCKED} where queue_name = 'stuck';
      insert into ${S}._private_workers (id, started_at, last_heartbeat_at, metadata)
      values ('gone', now() - interval '9 hours', now() - interval '5 hours',
        '{"unsettled": [{"id": "${held}", "error": "PostgreSQL refuses the result of the job: never"}]}')`);
    await run("build-index", "failed");
    await sql(
      `update pg_index set indisvalid = false where indexrelid = (
      select oid from pg_class where relname = 'worker_jobs_failed' and relnamespace = $1::regnamespace)`,
      [S],
    );
    return [await run("doctor")];
  },
  "a missing function, a function that uses another schema, a cron entry whose last execution is in the future":
    async () => {
      await sql(`drop function ${S}.force_unlock_workers;
      insert into ${S}._private_known_crontabs (identifier, known_since, last_execution)
      values ('ahead', now(), now() + interval '1 day')`);
      const { rows } = await sql("select pg_get_functiondef($1::regproc) as text", [
        `${S}.permanently_fail_jobs`,
      ]);
      const [head = "", body = ""] = String(rows[0].text).split(/(?=AS \$function)/);
      await sql(`${head}${body.replaceAll(S, "worker")}`);
      return [await run("doctor"), await run("cron")];
    },
  "worker add, when it fails": async () => {
    await sql(`select setval(pg_get_serial_sequence('${S}._private_jobs', 'id'), 1)`);
    const taken = await run("add", "taken");
    await sql(`create function ${S}.skip() returns trigger language plpgsql as 'begin return null; end';
      create trigger skip before insert on ${S}._private_jobs for each row execute function ${S}.skip()`);
    return [taken, await run("add", "skipped")];
  },
  "a schedule that exists already, a schedule whose next tick is years ahead, and cron entries that differ between workers":
    async () => {
      const nightly = ["schedule", "add", "nightly", "--task", "mail", "--cron", "0 3 * * *"];
      await run(...nightly);
      const again = await run(...nightly);
      await sql(`update ${S}._private_schedules set next_at = now() + interval '5 years' + interval '7 minutes';
      insert into ${S}._private_workers (id, last_heartbeat_at, metadata)
      select 'cron-' || n, now(), json_build_object('cron_entries', json_build_array('report'), 'cron',
        json_build_array(json_build_object('identifier', 'report', 'task', 'mail', 'pattern', n || ' 3 * * *',
          'time_zone', 'UTC', 'backfill_ms', 0, 'key', null, 'digest', 'd' || n, 'next', null)))::jsonb
      from generate_series(1, 2) n`);
      const doctor = await run("doctor");
      await sql(`delete from ${S}._private_workers where id like 'cron-%';
      update ${S}._private_schedules set next_at = now() - interval '1 hour'`);
      return [again, doctor, await run("doctor")];
    },
  "more pauses than are shown, and a job of a paused task": async () => {
    const id = await add("t1");
    await sql(`insert into ${S}._private_pauses (scope, name)
      select 'task', 't' || n from generate_series(1, 12) n`);
    const shown = [await run("status"), await run("why", id)];
    await sql(`delete from ${S}._private_pauses`);
    return shown;
  },
  "a job that is too large to show": async () => {
    await sql(`drop trigger if exists skip on ${S}._private_jobs;
      select setval(pg_get_serial_sequence('${S}._private_jobs', 'id'), 1000)`);
    const id = await add("large", "payload = to_json(repeat('a', 17000000))");
    return [await run("show", id)];
  },
  "a missing schema, and a schema without the tables of operations and heartbeats": async () => {
    const fresh = (...args: string[]) =>
      runInChild([...args, "-c", url, "--schema", "fresh schema"]);
    const missing = await fresh("status");
    await follow(missing);
    const refused = await fresh("fail", "task:a", "--yes");
    const dry = await fresh("fail", "task:a", "--dry-run", "--json");
    const { command, sentence } = JSON.parse(dry.stdout).missing;
    await follow({ ...dry, stdout: `"${command}"\n${sentence}` });
    await sql('drop schema "fresh schema" cascade');
    await follow(await fresh("status"));
    return [await fresh("doctor"), await fresh("operations"), refused];
  },
};

for (const [name, produce] of Object.entries(cases)) {
  test(`The suggestions work: ${name}.`, async () => {
    for (const result of await produce()) {
      const lines = await follow(result);
      assert.ok(lines.length > 0, `${result.stdout}${result.stderr}`);
    }
  });
}

test("A command that is suggested in a worker's log names the schema.", async () => {
  await sql(`drop table ${S}._private_workers cascade`);
  const tasks = filesOf({ "t.mjs": "export default () => {};" });
  const args = ["run", "--tasks", tasks, "--once", "--schema", SCHEMA];
  const result = await worker([...args, "--json"], { DATABASE_URL: url });
  const stderr = result.stderr.replaceAll('\\"', '"');
  const lines = await follow({ ...result, stdout: "", stderr }, { DATABASE_URL: url });
  assert.deepEqual(lines, [`worker migrate --schema='${SCHEMA}'`]);
});

test("The suggestion for a large queue builds the missing index in the schema of this queue.", async () => {
  const typed = sameQueue({ databaseUrl: url, schema: SCHEMA }, () => "--database-url");
  const line = typed.line("worker migrate --with-indexes");
  await follow({ status: 0, stdout: `fix: ${line}`, stderr: "" });
  const { rows } = await sql("select 1 from pg_indexes where schemaname = $1 and indexname = $2", [
    ...[SCHEMA, "worker_jobs_failed"],
  ]);
  assert.equal(rows.length, 1);
});

/** Patterns for texts (`file: text`) that contain the name of a command but are not suggestions. */
const words: readonly RegExp[] = [
  /^cli\/commands\/examples\.ts/,
  /^(?:admin\/api\/get-openapi|admin\/access\/authentication|cli\/run\/admin-beside|cli\/commands\/admin|cli\/admin\/admin-server)\.ts: worker admin/,
  /^cli\/commands\/insight\/watch-screen\.ts: worker watch {2}/,
  /^cli\/shell\/globals\.ts: worker status/,
  /^cli\/commands\/operations\.ts: worker migrate --with-operations adds\.$/,
  /^cli\/run\/run-options\.ts: worker admin$/,
  /^admin\/api\/lists\/job-page-json\.ts: worker migrate --with-indexes$/,
  /^commands\/jobs\/permanently-fail-jobs\.ts: worker admin UI$/,
  /^cli\/commands\/doctor\/queue-rules\.ts: worker (?:sweep|unlock)$/,
  /: worker demo(?:$|\\b)/,
  /^cli\/commands\/program\/(?:completion|man)\.ts/,
];
const isWords = ({ file, text }: Source) => words.some((one) => one.test(`${file}: ${text}`));

test("Every suggestion in the sources is in quotes, and was run by a test of this file.", () => {
  const suggestions = sources().filter((one) => !isWords(one));
  assert.deepEqual(
    suggestions.filter(({ isQuoted }) => !isQuoted),
    [],
    "A suggestion is in quotes; otherwise it is printed without its schema.",
  );
  const bare = suggestions.filter(
    ({ file, before: text }) =>
      !file.startsWith("cli/") && !/(?:workerLine\([\w.]+, |^ {2}command: |^ {4})["`]$/.test(text),
  );
  assert.deepEqual(bare, [], "Below the command line, workerLine() adds the schema.");
  const actions = [...operationActions, "unlock"].map((one) => `worker ${one} \${what}`);
  const missed = [...new Set([...suggestions.map(({ text }) => text), ...actions])].filter(
    (text) => !followed.some((line) => printedAs(text).test(line)),
  );
  assert.deepEqual(missed, [], `Add a case that prints it; run were:\n${followed.join("\n")}`);
});
