// Tests the commands `worker list`, `worker count` and `worker export` with a query, and `worker list` with ids.
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import pg from "pg";
import { migratedDatabase } from "../support/database.ts";
import { worker } from "./command.ts";

let env: { DATABASE_URL: string };
const folder = mkdtempSync(join(tmpdir(), "worker-export-"));
after(() => rmSync(folder, { recursive: true }));

before(async () => {
  env = { DATABASE_URL: (await migratedDatabase()).url };
  const client = new pg.Client({ connectionString: env.DATABASE_URL });
  await client.connect();
  await client.query("insert into worker._private_tasks (identifier) values ('a'), ('b')");
  await client.query(`
    insert into worker._private_jobs (task_id, payload, attempts, last_error)
    select 1 + n % 2, E'{"n":\\n 12345678901234567890}'::json, case when n < 4 then 25 else 0 end,
      case when n < 4 then E'Error: no\\x1b[31m\\n  at line 2' end
    from generate_series(1, 20) n`);
  await client.end();
});

const run = async (...args: string[]) => {
  const { status, stdout, stderr } = await worker(args, env);
  assert.equal(status, 0, stderr);
  return stdout;
};

test("If all arguments are integers, they are ids; otherwise they form one query.", async () => {
  const ids = async (...args: string[]): Promise<number[]> => {
    const { jobs } = JSON.parse(await run("list", "--json", ...args));
    return jobs.map(({ id }: { id: number }) => id);
  };
  assert.deepEqual(await ids("3", "1", "99"), [1, 3]);
  assert.deepEqual(await ids("task:b", "is:failed"), [1, 3]);
  assert.deepEqual(await ids("task:b is:failed", "--sort=-id"), [3, 1]);
  assert.deepEqual(await ids("--", "-task:b", "is:failed"), [2]);
  assert.deepEqual((await ids("--limit", "3")).length, 3);
  assert.equal((await run("count", "task:a")).trim(), "10");
  assert.equal((await run("count")).trim(), "20");
  assert.equal(JSON.parse(await run("count", "--json", "--", "-is:failed")).count, 17);
  const table = await run("list", "1");
  assert.match(table, /^ID +STATE/);
  assert.match(table, /1 +failed +b .*Error: no\\u001b\[31m$/m);
  const wrong = await worker(["list", "is:faild"], env);
  assert.equal(wrong.status, 1);
  assert.match(wrong.stderr, /is:failed|"failed"/);
});

test("An export goes to a file or to standard output, and its payloads keep all digits.", async () => {
  const lines = (await run("export", "is:failed", "--payload")).trimEnd().split("\n");
  assert.equal(lines.length, 3);
  assert.ok(lines.every((line) => line.includes('"payload":{"n":  12345678901234567890}')));
  const file = join(folder, "jobs.csv");
  const message = await run("export", "--format", "csv", "--columns", "id,state", "--output", file);
  assert.equal(message, `Exported 20 jobs to ${file}\n`);
  assert.match(readFileSync(file, "utf8"), /^id,state\r\n1,failed\r\n/);
  const rest = await run("export", "--columns", "id", "--cursor", "18");
  assert.equal(rest, '{"id":19}\n{"id":20}\n');
  const unwritable = await worker(["export", "--output", join(folder, "no", "such")], env);
  assert.equal(unwritable.status, 1);
  assert.match(unwritable.stderr, /output: cannot be written/);
  assert.equal(await run("show", "1", "--payload"), '{"n":\n 12345678901234567890}');
});
