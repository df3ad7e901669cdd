// Tests tasksMaybeReady(), the check whether tasks may have ready jobs. The test runs on PostgreSQL 17, because the
// index scans of this version cannot skip to the next priority. If npm has not installed version 17, the test runs on
// the embedded version.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import type { Queryable } from "../../src/database/database.ts";
import { type EmbeddedServer, startEmbeddedServer } from "../../src/database/embedded/server.ts";
import { tasksMaybeReady } from "../../src/queue/fetch/has-ready.ts";
import { makeWorkerUtils } from "../../src/utils/worker-utils.ts";
import { TEST_SETTINGS } from "../support/database-server.ts";
import { olderBinaries } from "../support/postgres-versions.ts";
import { testQueue } from "./queue-database.ts";

const binaries = olderBinaries("17");
const dataDir = mkdtempSync(join(tmpdir(), "worker-ready-"));
let server: EmbeddedServer | undefined;
const queue = testQueue(async () => {
  const from = binaries === null ? {} : { binaries };
  server = await startEmbeddedServer({ dataDir, settings: TEST_SETTINGS, ...from });
  await using utils = await makeWorkerUtils({ connectionString: server.url() });
  await utils.migrate();
  return { url: server.url() };
});
after(async () => {
  await server?.stop();
  rmSync(dataDir, { recursive: true, force: true });
});

const ready = async (...tasks: string[]) => [...(await tasksMaybeReady(queue.db, tasks, false))];

test("The check for ready jobs skips the scheduled jobs of each priority without reading them.", async () => {
  await queue.sql("insert into worker._private_tasks (identifier) values ('task'), ('other')");
  await queue.sql(
    `insert into worker._private_jobs (task_id, priority, run_at)
     select id, n % 3 - 1, now() + interval '1 day' from worker._private_tasks, generate_series(1, 30000) as n where identifier = 'task'`,
  );
  await queue.sql("vacuum analyze worker._private_jobs");
  assert.deepEqual(await ready("task"), []);
  let plan = "";
  const client: Queryable = {
    query: async ({ text, values }) => {
      const explained = `explain (analyze, buffers, timing off) ${text}`;
      const { rows } = await queue.pool.query(explained, values);
      plan = rows.map((row) => row["QUERY PLAN"]).join("\n");
      return { rows: [] } as never;
    },
  };
  await tasksMaybeReady({ ...queue.db, client }, ["task"], false);
  const [, hit = "", read = "0"] = plan.match(/shared hit=(\d+)(?: read=(\d+))?/) ?? [];
  assert.ok(Number(hit) + Number(read) < 60, plan);
  await queue.sql(
    "update worker._private_jobs set run_at = now() where id = (select max(id) from worker._private_jobs where priority = 1)",
  );
  assert.deepEqual(await ready("task", "other"), ["task"]);
  assert.deepEqual(await ready("other"), []);
});
