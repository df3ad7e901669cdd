// Tests the error messages and the exit statuses of the command line. A message names the mistake or the fix, in one
// line unless there are several problems. It contains no secret, and without --verbose no stack trace.
import assert from "node:assert/strict";
import { createServer } from "node:net";
import { test } from "node:test";
import pg from "pg";
import { emptyDatabase, migratedDatabase } from "../support/database.ts";
import { type CommandResult, worker } from "./command.ts";

function assertRefused(result: CommandResult, status: number, message: RegExp): void {
  assert.match(result.stderr, message);
  assert.equal(result.stderr.trimEnd().split("\n").length, 1, result.stderr);
  assert.doesNotMatch(result.stderr, /\n\s+at |hunter2/);
  assert.equal(result.status, status, result.stderr);
}

const nowhere = "postgres://u:hunter2@127.0.0.1:1/x";
const refusals: [name: string, args: string[], env: Record<string, string>, number, RegExp][] = [
  ["no DATABASE_URL", ["list"], {}, 1, /set DATABASE_URL .*"worker demo"/],
  ["an empty DATABASE_URL", ["admin"], { DATABASE_URL: "" }, 1, /set DATABASE_URL/],
  ["a URL of MySQL", ["migrate"], { DATABASE_URL: "mysql://u:hunter2@h/d" }, 1, /postgres:/],
  ["an unreachable server", ["status"], { DATABASE_URL: nowhere }, 1, /cannot reach PostgreSQL/],
  ["an unknown flag", ["list", "--lmit", "3"], {}, 2, /list has no option --lmit/],
  ["an unknown command", ["lst"], {}, 2, /unknown command "lst".*list/],
  ["no command", [], {}, 2, /no command given/],
  ["a missing argument", ["show"], {}, 2, /<id> is missing/],
  ["a missing file argument", ["add-many"], {}, 2, /<file> is missing: JSON Lines/],
  ["an invalid number", ["list", "--limit", "foo"], {}, 1, /--limit: must be .*, not "foo"/],
  [
    "ids mixed with other words",
    ["complete", "1", "abc"],
    {},
    2,
    /<ids>: give either ids or one query, not both; "abc" is not a job id/,
  ],
  [
    "an invalid port",
    ["status"],
    { DATABASE_URL: "postgres://h:abc/d" },
    1,
    /port in DATABASE_URL/,
  ],
  [
    "an invalid port in a URL",
    ["healthcheck", "http://h:abc"],
    {},
    1,
    /<url>: has "abc" as its port/,
  ],
  [
    "an option of the admin without --admin",
    ["run", "--tasks", ".", "--username", "u"],
    {},
    2,
    /--username needs --admin/,
  ],
  ["an invalid choice", ["list", "--state", "odd"], {}, 2, /--state: must be one of all, ready/],
  ["an invalid choice in an alias", ["cleanup", "--tasks", "odd"], {}, 2, /: --tasks: must be one/],
  [
    "an option given twice",
    ["list", "--schema", "a", "--schema", "b"],
    {},
    2,
    /--schema was given/,
  ],
  [
    "a maximum of 0 connections",
    ["list", "--max-connections", "0"],
    { DATABASE_URL: nowhere },
    1,
    /--max-conn/,
  ],
];
for (const [name, args, env, status, message] of refusals) {
  test(`The command line fails with the right status and message: ${name}.`, async () =>
    assertRefused(await worker(args, env), status, message));
}

test("A missing database and a missing schema have different messages.", async () => {
  const { url, name } = await emptyDatabase();
  const missing = url.replace(name, "no_such_database");
  assertRefused(await worker(["status"], { DATABASE_URL: missing }), 1, /check the database name/);
  const result = await worker(["status"], { DATABASE_URL: url });
  assertRefused(result, 1, /the schema "worker" does not exist.*worker migrate/);
});

test("--auth none is rejected on each TCP address other than 127.0.0.0/8, ::1 and localhost.", async () => {
  const { url } = await migratedDatabase();
  for (const listen of ["0.0.0.0:0", "[::]:0", "[::ffff:127.0.0.1]:0", "localhost.example:0"]) {
    const result = await worker(["admin", "--auth", "none", "--listen", listen], {
      DATABASE_URL: url,
    });
    assertRefused(result, 1, /loopback/);
  }
});

test("The error for a port in use names the port.", async (t) => {
  const { url } = await migratedDatabase();
  const server = createServer().listen(0, "127.0.0.1");
  t.after(() => server.close());
  await new Promise((resolve) => server.once("listening", resolve));
  const { port } = server.address() as { port: number };
  const result = await worker(["admin", "--listen", `127.0.0.1:${port}`], { DATABASE_URL: url });
  assertRefused(result, 1, new RegExp(`${port}`));
});

test("If row level security hides all jobs from a role, the error gives this cause.", async (t) => {
  const { url, name } = await migratedDatabase();
  const client = new pg.Client(url);
  await client.connect();
  const role = `reader_${name}`;
  await client.query(`create role ${role} login password 'hunter2'`);
  await client.query(`grant usage on schema worker to ${role}`);
  await client.query(`grant select on all tables in schema worker to ${role}`);
  t.after(async () => {
    await client.query(`drop owned by ${role}`);
    await client.query(`drop role ${role}`);
    await client.end();
  });
  const parts = new URL(url.replace("///", "//localhost/"));
  parts.searchParams.set("user", role);
  parts.username = role;
  const lowly = parts.href.replace("@localhost/", "@/").replace(/^(\w+):\/\/[^/]*\//, "$1:///");
  const result = await worker(["status"], { DATABASE_URL: lowly });
  assertRefused(result, 1, /row level security hides all jobs/);
});

test("A message about an invalid value names the option or argument as --help does.", async () => {
  const { url } = await migratedDatabase();
  const args = ["add", "t", "{}", "--priority", "40000", "--run-at", "soon"];
  const result = await worker(args, { DATABASE_URL: url });
  assert.equal(result.status, 1);
  assert.match(result.stderr, /^ {2}--run-at: must be .*\n {2}--priority: must be .*$/m);
  assertRefused(
    await worker(["add", "t", "{"], { DATABASE_URL: url }),
    1,
    /<payload>: is not JSON/,
  );
});

test("A message names options such as --run-at instead of fields such as run_at, but a field name in the user's own input stays unchanged.", async () => {
  const { url } = await migratedDatabase();
  const stderrOf = async (...args: string[]) =>
    (await worker(args, { DATABASE_URL: url })).stderr.replace("worker: ", "").trimEnd();
  assert.equal(
    await stderrOf("add", "t", '{"run_at": queue, key}'),
    `<payload>: is not JSON: Unexpected token 'q', ...""run_at": queue, key"... is not valid JSON`,
  );
  assert.match(await stderrOf("reschedule", "run_at:1"), /^the query: unknown field "run_at"/);
  assert.equal(
    await stderrOf("reschedule", "1"),
    "reschedule needs at least one of --run-at, --shift, --spread, --priority, --attempts and --max-attempts",
  );
});

test("With --json an error is JSON, and with --verbose it has a stack trace.", async () => {
  const json = await worker(["list", "--json"]);
  assert.deepEqual(Object.keys(JSON.parse(json.stderr)), ["error", "code"]);
  const verbose = await worker(["list", "--verbose"]);
  assert.match(verbose.stderr, /\n\s+at /);
  assert.equal(verbose.status, 1);
});
