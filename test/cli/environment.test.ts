// Tests that options are read from environment variables, and secrets from files and systemd credentials, and that an
// error message names the option or the variable with the wrong value.
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { variableOf } from "../../src/cli/arguments/environment.ts";
import { commands } from "../../src/cli/commands/index.ts";
import { program } from "../../src/cli/shell/globals.ts";
import { migratedDatabase } from "../support/database.ts";
import { runInChild, worker } from "./command.ts";

const folder = mkdtempSync(join(tmpdir(), "wk-environment-"));
after(() => rmSync(folder, { recursive: true, force: true }));
let env: { DATABASE_URL: string };
before(async () => {
  env = { DATABASE_URL: (await migratedDatabase()).url };
});

test("An option can be set by its variable, and a typed value overrides the variable.", async () => {
  const add = (name: string) =>
    runInChild(["add", name, "{}"], { ...env, WORKER_ADD_PRIORITY: "7" });
  assert.equal((await add("one")).status, 0);
  const typed = await runInChild(["add", "two", "{}", "--priority", "3"], {
    ...env,
    WORKER_ADD_PRIORITY: "7",
  });
  assert.equal(typed.status, 0, typed.stderr);
  const listed = await runInChild(["list"], {
    ...env,
    WORKER_JSON: "yes",
    WORKER_LIST_TASK: "one",
  });
  const { jobs } = JSON.parse(listed.stdout);
  assert.deepEqual(
    jobs.map((job: { priority: number }) => job.priority),
    [7],
  );
  const both = await runInChild(["list", "--json"], { ...env, WORKER_LIST_TASK: "" });
  assert.deepEqual(
    JSON.parse(both.stdout)
      .jobs.map((job: { priority: number }) => job.priority)
      .sort(),
    [3, 7],
  );
});

test("WORKER_JSON makes errors JSON, --no-json overrides it, and --json after -- has no effect.", async () => {
  const json = await runInChild(["list", "--nothing"], { ...env, WORKER_JSON: "1" });
  assert.equal(JSON.parse(json.stderr).code, "usage");
  const off = await runInChild(["list", "--nothing", "--no-json"], { ...env, WORKER_JSON: "1" });
  assert.match(off.stderr, /^worker: list has no option --nothing/);
  const argument = await runInChild(["list", "--limit", "x", "--", "--json"], env);
  assert.match(argument.stderr, /^worker: --limit: must be/);
});

test("If the value of a variable is invalid, the error message names the variable.", async () => {
  const bad = await runInChild(["list"], { ...env, WORKER_LIST_LIMIT: "many" });
  assert.match(bad.stderr, /^worker: WORKER_LIST_LIMIT: must be a whole number from 0 to 500/);
  const flag = await runInChild(["list"], { ...env, WORKER_JSON: "perhaps" });
  assert.match(flag.stderr, /^worker: WORKER_JSON: must be true or false/);
  const field = await runInChild(["add", "t", "{}"], { ...env, WORKER_ADD_KEY_MODE: "replace" });
  assert.match(field.stderr, /WORKER_ADD_KEY_MODE: needs a key/);
});

test("A file for a secret is rejected if the file is empty or larger than 64 KiB, even if the file has no end.", async () => {
  const empty = join(folder, "empty");
  writeFileSync(empty, "\n");
  const nothing = await runInChild(["status"], { DATABASE_URL_FILE: empty });
  assert.match(nothing.stderr, /^worker: DATABASE_URL_FILE: .*empty is empty/);
  const endless = await worker(["admin"], { ...env, WORKER_ADMIN_PASSWORD_FILE: "/dev/zero" });
  assert.match(endless.stderr, /WORKER_ADMIN_PASSWORD_FILE: \/dev\/zero is larger than 64 KiB/);
  assert.notEqual(endless.status, 0);
});

test("Errors about the database connection name the option or the variables that define the connection.", async () => {
  const absent = "postgres://127.0.0.1:1/x";
  const typed = await runInChild(["status", "--database-url", absent], env);
  assert.match(typed.stderr, /ECONNREFUSED.*; check --database-url and that the server is up/);
  const variable = await runInChild(["status"], { DATABASE_URL: absent });
  assert.match(variable.stderr, /; check DATABASE_URL and/);
  const libpq = await runInChild(["status"], { PGHOST: "127.0.0.1", PGPORT: "1", PGUSER: "x" });
  assert.match(libpq.stderr, /; check PGHOST, PGPORT, PGUSER and PGDATABASE and/);
  const wrong = await runInChild(["status", "--database-url", `${absent}?sslmode=on`], env);
  assert.match(wrong.stderr, /^worker: sslmode in --database-url must be one of/);
  const port = await runInChild(["status"], { PGHOST: "127.0.0.1", PGPORT: "p" });
  assert.match(port.stderr, /^worker: PGPORT must be a number/);
  const none = await runInChild(["status"], {});
  assert.match(none.stderr, /^worker: set DATABASE_URL \(or --database-url;.*\).*PGSERVICE/);
});

test("The database URL can come from a file or a systemd credential.", async () => {
  const file = join(folder, "url");
  writeFileSync(file, `${env.DATABASE_URL}\n`);
  assert.equal((await runInChild(["status"], { DATABASE_URL_FILE: file })).status, 0);
  const credentials = join(folder, "credentials");
  mkdirSync(credentials);
  writeFileSync(join(credentials, "database-url"), env.DATABASE_URL);
  assert.equal((await runInChild(["status"], { CREDENTIALS_DIRECTORY: credentials })).status, 0);
  const absent = await runInChild(["status"], { DATABASE_URL_FILE: join(folder, "none") });
  assert.match(absent.stderr, /^worker: DATABASE_URL_FILE: cannot be read: ENOENT/);
  const both = await runInChild(["status"], { ...env, DATABASE_URL_FILE: file });
  assert.match(
    both.stderr,
    /^worker: DATABASE_URL: is set, and so is DATABASE_URL_FILE; use only one of them/,
  );
});

test("A libpq service is enough to connect. PGSERVICE or the URL names the service.", async () => {
  const url = new URL(env.DATABASE_URL.replace("///", "//localhost/"));
  const of = (name: string) => url.searchParams.get(name);
  const lines = [
    "[queue]",
    `host=${of("host") ?? url.hostname}`,
    `port=${of("port") ?? url.port}`,
    `user=${of("user") ?? url.username}`,
    `password=${url.password}`,
    `dbname=${url.pathname.slice(1)}`,
  ];
  const file = join(folder, "services");
  writeFileSync(file, lines.join("\n"));
  const variables = { PGSERVICEFILE: file, PGSERVICE: "queue" };
  assert.equal((await worker(["status"], variables)).status, 0);
  const named = { PGSERVICEFILE: file, DATABASE_URL: "postgres:///?service=queue" };
  assert.equal((await runInChild(["status"], named)).status, 0);
  const other = await runInChild(["status"], { ...variables, PGSERVICE: "other" });
  assert.match(other.stderr, /^worker: PGSERVICE names the service "other", which is not in /);
});

test("No variable sets --yes, --all, --dry-run or --fresh.", async () => {
  for (const command of [program, ...commands]) {
    for (const key of ["yes", "all", "dryRun", "dry-run", "dry_run", "fresh"])
      assert.equal(variableOf(key, command), null);
  }
  const result = await runInChild(["cleanup"], {
    ...env,
    WORKER_CLEANUP_ALL: "1",
    WORKER_ALL: "1",
  });
  assert.match(result.stderr, /give --task, or --all for everything/);
});

test("The help explains the names of the variables.", async () => {
  const { stdout } = await runInChild(["add", "--help"], {});
  assert.match(stdout, /environment as WORKER_ADD_<OPTION>: --\S+ is\s+WORKER_ADD_/);
  assert.match(
    (await runInChild(["--help"], {})).stdout,
    /WORKER_LIST_LIMIT sets\s+--limit\s+of\s+list/,
  );
});
