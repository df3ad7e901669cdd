// Tests that `worker migrate` and `worker build-index` build optional indexes, that `worker drop-index` drops them, and
// that a dry run of `worker migrate` changes nothing.
import assert from "node:assert/strict";
import { before, test } from "node:test";
import pg from "pg";
import { emptyDatabase, migratedDatabase } from "../support/database.ts";
import { runInChild, worker } from "./command.ts";

let env: { DATABASE_URL: string };
before(async () => {
  env = { DATABASE_URL: (await migratedDatabase()).url };
});

async function ran(...args: string[]) {
  const { status, stdout, stderr } = await worker(args, env);
  assert.deepEqual([status, stderr], [0, ""], args.join(" "));
  return stdout.trim();
}

async function indexes(): Promise<string[]> {
  const client = new pg.Client(env.DATABASE_URL);
  await client.connect();
  const { rows } = await client.query(
    "select indexname from pg_indexes where indexname like 'worker_jobs_%' order by indexname",
  );
  await client.end();
  return rows.map(({ indexname }) => indexname.replace("worker_jobs_", ""));
}

test("migrate --with-indexes builds the named indexes, or the recommended indexes if none are named.", async () => {
  assert.match(await ran("migrate", "--with-indexes=task,queue"), /^Indexes: task, queue$/m);
  assert.deepEqual(await indexes(), ["queue", "task"]);
  const { indexes: built } = JSON.parse(await ran("migrate", "--with-indexes", "--json"));
  assert.deepEqual(built, ["failed", "retrying", "running", "queue_ready"]);
  assert.match(await ran("migrate", "--with-indexes"), /up to date \(level 20\)$/);
});

test("An index is dropped and built by name. An unknown name is rejected with a list of all names.", async () => {
  assert.equal(await ran("drop-index", "task"), "Dropped the index task");
  assert.equal(await ran("drop-index", "task"), "There is no optional index task to drop");
  assert.equal(await ran("build-index", "task"), "Built the index task");
  assert.equal(await ran("build-index", "task"), "The index task already exists");
  assert.equal(await ran("cancel-index", "task"), "The index task is not being built");
  const { status, stderr } = await worker(["migrate", "--with-indexes=failed,nonsense"], env);
  assert.equal(status, 2);
  assert.match(stderr, /--with-indexes: must be one of failed, retrying/);
});

test("If a database cannot have an index, migrate prints the reason and builds the other indexes.", async () => {
  const { url } = await emptyDatabase();
  const empty = { DATABASE_URL: url };
  const dry = await runInChild(["migrate", "--with-indexes=failed_text,task", "--dry-run"], empty);
  const left =
    /skipped: the index failed_text needs PostgreSQL's extension pg_trgm; let .* create extension pg_trgm$/m;
  assert.match(dry.stdout, left);
  const { status, stdout, stderr } = await worker(
    ["migrate", "--with-indexes=failed_text,task"],
    empty,
  );
  assert.deepEqual([status, stderr], [3, ""]);
  assert.match(stdout, /^Created the schema worker \(level 20\); /);
  assert.match(stdout, left);
  assert.match(stdout, /^Indexes: task$/m);
});

test("migrate --dry-run shows the plan and changes nothing.", async () => {
  const { url } = await emptyDatabase();
  const empty = { DATABASE_URL: url };
  const planned = await runInChild(["migrate", "--dry-run", "--with-indexes=failed"], empty);
  assert.equal(planned.status, 0, planned.stderr);
  assert.match(
    planned.stdout,
    /^Would create the schema worker \(level 20\)\nExtensions: workers\n/,
  );
  assert.match(planned.stdout, /Indexes: failed/);
  const { stderr } = await runInChild(["status"], empty);
  assert.match(stderr, /the schema "worker" does not exist/);
  assert.equal((await runInChild(["migrate"], empty)).status, 0);
  const more = await runInChild(["migrate", "--dry-run", "--with-operations", "--json"], empty);
  const { outcome, dry_run: isDry, extensions } = JSON.parse(more.stdout);
  assert.deepEqual([outcome, isDry, extensions], ["upgraded", true, ["operations"]]);
  const again = await runInChild(["migrate", "--dry-run"], empty);
  assert.match(again.stdout, /^The schema worker is up to date/);
});
