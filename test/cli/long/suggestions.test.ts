// Tests the commands that other commands suggest in their output. Each suggestion is run in a shell as it was printed,
// with --yes if the command may require a confirmation. A suggestion must act on the schema of the command that printed
// the suggestion. The schema `worker` of the same database has other jobs with the same ids.
import assert from "node:assert/strict";
import { before, test } from "node:test";
import type pg from "pg";
import { emptyDatabase } from "../../support/database.ts";
import { testPool } from "../../support/test-pool.ts";
import { type CommandResult, runInChild } from "../command.ts";
import { inShell, programsToPaste, suggestedCommands } from "../suggested.ts";

const SCHEMA = "billing ops";
const S = `"${SCHEMA}"`;

let url = "";
let pool: pg.Pool;
let programs = "";
const closing: (() => Promise<void>)[] = [];
test.after(async () => {
  for (const close of closing) await close();
});

before(async () => {
  url = (await emptyDatabase()).url;
  const handle = testPool(url);
  pool = handle.pool;
  closing.push(handle.close);
  for (const schema of ["worker", SCHEMA]) {
    const made = await runInChild(["migrate", "--with-operations", "--schema", schema], {
      DATABASE_URL: url,
    });
    assert.equal(made.status, 0, made.stderr);
  }
  await pool.query("select worker.add_job('other') from generate_series(1, 50)");
  programs = programsToPaste();
});

/** The ways to name the database: functions that return the options and environment variables for a command. */
const ways: Record<string, () => { options: string[]; env: Record<string, string> }> = {
  "the environment": () => ({ options: [], env: { DATABASE_URL: url } }),
  "an option": () => ({ options: ["-c", url], env: {} }),
};

const others = async () => {
  const { rows } = await pool.query("select * from worker._private_jobs order by id");
  const { rows: made } = await pool.query("select * from worker._private_operations");
  return [rows, made];
};

type Runs = (...args: string[]) => Promise<CommandResult>;

/** Runs the commands that an output suggests, and returns them. The schema `worker` must stay unchanged. */
async function follow(env: Record<string, string>, result: CommandResult): Promise<string[]> {
  const lines = suggestedCommands(result);
  for (const line of lines) {
    const before = await others();
    const done = inShell(line, programs, env);
    assert.ok(done.status !== 2 && done.status !== 127, `${line}: ${done.stderr}`);
    assert.doesNotMatch(done.stderr, /no schema|cannot reach|DATABASE_URL/, line);
    assert.deepEqual(await others(), before, line);
  }
  return lines;
}

const addFailed = async (task: string) => {
  const { rows } = await pool.query(`select id from ${S}.add_job($1, max_attempts => 1)`, [task]);
  await pool.query(
    `update ${S}._private_jobs set attempts = 1, last_error = 'Error: no' where id = $1`,
    [rows[0].id],
  );
  return String(rows[0].id);
};
const attemptsOf = async (id: string) =>
  (await pool.query(`select attempts from ${S}._private_jobs where id = $1`, [id])).rows[0]
    ?.attempts;

for (const [name, way] of Object.entries(ways)) {
  const calls = (): { run: Runs; env: Record<string, string> } => {
    const { options, env } = way();
    return { run: (...args) => runInChild(["--schema", SCHEMA, ...options, ...args], env), env };
  };

  test(`The commands that worker why suggests work with the database named by ${name}.`, async () => {
    const { run, env } = calls();
    const failed = await addFailed("broken");
    assert.equal((await follow(env, await run("why", failed))).length, 1);
    assert.equal(await attemptsOf(failed), 0);
    const { rows } = await pool.query(
      `select id from ${S}.add_job('later', run_at => now() + interval '1 day')`,
    );
    assert.equal((await follow(env, await run("why", String(rows[0].id)))).length, 1);
    const { rows: lost } = await pool.query(
      `select id from ${S}.add_job('lost', queue_name => 'gone')`,
    );
    await pool.query(`delete from ${S}._private_job_queues`);
    const lines = await follow(env, await run("why", String(lost[0].id)));
    assert.match(lines.join("\n"), /worker cleanup .*--schema='billing ops'/);
    const { rows: queues } = await pool.query(`select 1 from ${S}._private_job_queues`);
    assert.ok(queues.length > 0);
  });

  test(`The commands that previews and receipts suggest work with the database named by ${name}.`, async () => {
    const { run, env } = calls();
    await addFailed("swept");
    const dry = await run("retry", "--dry-run", "--", "-task:nothing task:swept");
    assert.equal((await follow(env, dry)).length, 1);
    const id = await addFailed("undone");
    const lines = await follow(env, await run("retry", id));
    assert.match(lines.join("\n"), /worker operations .*--schema='billing ops' \d+ undo$/);
    assert.equal(await attemptsOf(id), 1);
    const byQuery = await run("retry", "task:undone");
    assert.equal((await follow(env, byQuery)).length, 1);
    assert.equal(await attemptsOf(id), 1);
    const json = JSON.parse((await run("retry", "task:undone", "--dry-run", "--json")).stdout);
    assert.equal(inShell(json.cli, programs, env).status, 0);
  });

  test(`doctor's fixes work with the database named by ${name}.`, async () => {
    const { run, env } = calls();
    for (let n = 0; n < 3; n++) await addFailed("alike");
    await pool.query(`
      insert into ${S}._private_known_crontabs (identifier, known_since, last_execution)
      values ('ahead', now(), now() + interval '1 day') on conflict (identifier) do update set last_execution = excluded.last_execution;
      create or replace function ${S}.own() returns trigger language plpgsql as 'begin return new; end';
      create or replace trigger own after insert on ${S}._private_jobs for each row execute function ${S}.own();
      drop index if exists ${S}.jobs_main_index;
      select setval(pg_get_serial_sequence('${S}._private_tasks', 'id'), 1);
    `);
    const lines = await follow(env, await run("doctor"));
    for (const kind of [
      /^worker retry /,
      /^psql .*-c .*known_crontabs/,
      /^psql .*disable trigger/,
      /setval/,
    ]) {
      assert.ok(
        lines.some((line) => kind.test(line)),
        `${kind} in ${lines.join("\n")}`,
      );
    }
    const after = await run("doctor");
    assert.doesNotMatch(after.stdout, /^(?:bad|warn) +(?:drift|sequences|timetable)/m);
  });

  test(`The commands that errors suggest act on the schema of the call, with the database named by ${name}.`, async () => {
    const { options, env } = way();
    const fresh = `fresh ${options.length}`;
    const missing = await runInChild(["--schema", fresh, ...options, "status"], env);
    const lines = await follow(env, missing);
    assert.equal(lines.length, 1, missing.stderr);
    assert.equal((await runInChild(["--schema", fresh, ...options, "status"], env)).status, 0);
    const query = await runInChild(["--schema", fresh, ...options, "fail", "task:a", "--yes"], env);
    assert.match((await follow(env, query)).join("\n"), /^worker migrate .*--with-operations/);
    assert.equal(
      (await runInChild(["--schema", fresh, ...options, "fail", "task:a", "--yes"], env)).status,
      0,
    );
  });
}

test("A suggestion omits the password in --connection, and a note names the variable PGPASSWORD.", async () => {
  const id = await addFailed("secret");
  const [, place = ""] = /^postgres(?:ql)?:\/\/(?:[^@/]*@)?(.*)$/.exec(url) ?? [];
  const role = new URL(url.replace("///", "//localhost/")).username || "postgres";
  const secret = `postgres://${role}:hunter2@${place}`;
  const result = await runInChild(["--connection", secret, "--schema", SCHEMA, "why", id]);
  assert.match(result.stdout, /worker retry --database-url=\S+ --schema='billing ops' \d+/);
  assert.match(result.stderr, /The password in --connection is omitted above: set PGPASSWORD/);
  assert.doesNotMatch(result.stdout + result.stderr, /hunter2/);
  await follow({ PGPASSWORD: "hunter2" }, result);
});

test("The option --schema overrides the schema of the environment, also in suggestions.", async () => {
  const { rows } = await pool.query(
    "select id from worker.add_job('typed', run_at => now() + interval '1 day')",
  );
  const env = { DATABASE_URL: url, WORKER_SCHEMA: SCHEMA };
  const result = await runInChild(["--schema", "worker", "why", String(rows[0].id)], env);
  assert.match(result.stdout, /worker run-now --schema=worker \d+/);
});

test("A suggested command works with a name that looks like an option.", async () => {
  const handle = testPool((await emptyDatabase()).url);
  closing.push(handle.close);
  const env = { DATABASE_URL: String(handle.pool.options.connectionString) };
  const run: Runs = (...args) => runInChild(args, env);
  const paste = async (result: CommandResult, expected: string) => {
    assert.ok(suggestedCommands(result).includes(expected), result.stdout + result.stderr);
    const done = inShell(expected, programs, env);
    assert.equal(done.status, 0, done.stderr);
  };
  const migrated = await run("migrate", "--with", "controls", "--with", "schedules");
  assert.equal(migrated.status, 0, migrated.stderr);
  await handle.pool.query(`
    select worker.add_job('-t'), worker.add_job('u', queue_name => 'q');
    update worker._private_job_queues set locked_at = now() - interval '1 hour', locked_by = '-w';
    insert into worker._private_workers (id, last_heartbeat_at) values ('-w', now() - interval '1 hour')`);
  await paste(await run("why", "2"), "worker unlock -- '-w'");
  const { rows } = await handle.pool.query("select locked_by from worker._private_job_queues");
  assert.deepEqual(rows, [{ locked_by: null }]);
  assert.equal((await run("pause", "task", "--", "-t")).status, 0);
  await paste(await run("why", "1"), "worker resume task -- '-t'");
  assert.equal((await handle.pool.query("select from worker._private_pauses")).rowCount, 0);
  const add = ["schedule", "add", "--task=t", "--pattern=0 3 * * *", "--", "-n"];
  assert.equal((await run(...add)).status, 0);
  await paste(await run(...add), "worker schedule change --pattern='0 3 * * *' -- '-n'");
});
