// Tests outages of the database. After an outage that lasted longer than the workers' leases, all workers look stale to
// each other, but no worker may recover the jobs of another worker.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import pg from "pg";
import { wait } from "../../../src/base/clock.ts";
import { type EmbeddedServer, startEmbeddedServer } from "../../../src/database/embedded/server.ts";
import { migrate } from "../../../src/database/schema/migrate.ts";
import { schemaName } from "../../../src/database/schema-name.ts";
import { addJob } from "../../../src/queue/add/add-job.ts";
import { testPool } from "../../support/test-pool.ts";
import { QUICK, waitUntil, workerProcess } from "../worker-process.ts";

const dataDir = mkdtempSync(join(tmpdir(), "wk-"));
let postgres: EmbeddedServer = await startEmbeddedServer({ dataDir });
after(async () => {
  await postgres.stop();
  rmSync(dataDir, { recursive: true, force: true });
});

/** Runs a statement on a new connection, because the connections of a pool would be lost in an outage. */
async function sql<R extends pg.QueryResultRow>(text: string, values: unknown[] = []) {
  const client = new pg.Client({ connectionString: postgres.url() });
  await client.connect();
  try {
    return (await client.query<R>(text, values)).rows;
  } finally {
    await client.end();
  }
}

async function add(identifier: string) {
  await using own = testPool(postgres.url());
  return await addJob({ client: own.pool, schema: schemaName() }, { identifier, payload: {} });
}

test("After an outage of the database no worker recovers the jobs of another.", async () => {
  const own = testPool(postgres.url());
  await migrate(own.pool, schemaName());
  await own.close();
  // A lease of QUICK lasts 1 s. On a busy machine, a single heartbeat can take longer.
  const thresholdMs = 3_000;
  const recovery = { ...QUICK, thresholdMs, resilientThresholdMs: thresholdMs };
  const options = { concurrency: 1, recovery };
  const workers = [
    await workerProcess(postgres.url(), options),
    await workerProcess(postgres.url(), options),
    await workerProcess(postgres.url(), options),
  ];
  const ids: string[] = [];
  for (const _ of workers) ids.push((await add("held")).id);
  for (const worker of workers) await worker.event("started");

  await postgres.stop();
  // The outage must be longer than a lease. No event reports the end of a lease, so the test waits for a fixed time.
  await wait(2 * thresholdMs, new AbortController().signal);
  postgres = await startEmbeddedServer({ dataDir });

  // A worker may recover the jobs of others once its heartbeats have succeeded for as long as a lease (3 s). So after
  // 6 s, each worker may recover jobs, and has searched for stale workers many times.
  const [ready] = await sql<{ now: string }>("select now()::text as now");
  await waitUntil("each worker has sent a heartbeat more than 6 s after the restart", async () => {
    const [row] = await sql<{ back: number }>(
      `select count(*)::int as back from worker._private_workers
       where last_heartbeat_at > $1::timestamptz + interval '6 s'`,
      [ready?.now],
    );
    return row?.back === workers.length;
  });
  for (const worker of workers) {
    const names = worker.events.map(({ event }) => event);
    assert.ok(!names.includes("recovered") && !names.includes("leaseLost"), names.join());
  }
  const text = "select count(*)::int as held from worker._private_jobs where locked_by = any($1)";
  const [held] = await sql<{ held: number }>(text, [workers.map(({ workerId }) => workerId)]);
  assert.equal(held?.held, workers.length);
  for (const worker of workers) worker.release();
  await waitUntil("the rows of all jobs are deleted", async () => {
    const [row] = await sql<{ left: number }>(
      "select count(*)::int as left from worker._private_jobs where id = any($1)",
      [ids],
    );
    return row?.left === 0;
  });
  for (const worker of workers) {
    assert.equal(worker.events.filter(({ event }) => event === "started").length, 1);
    assert.equal(worker.events.filter(({ event }) => event === "interrupted").length, 0);
  }
  await Promise.all(workers.map((worker) => worker.stop()));
  assert.deepEqual(await sql("select id from worker._private_workers"), []);
});

test("A worker that is stopped during an outage ends, and its row is deleted later.", async () => {
  // If the previous test failed, its jobs may still exist. The first worker would fetch them, and could not stop before
  // their results were written.
  await sql("truncate worker._private_jobs");
  const [first, second] = [
    await workerProcess(postgres.url()),
    await workerProcess(postgres.url(), { concurrency: 1 }),
  ];
  await postgres.stop();
  await first.stop();
  postgres = await startEmbeddedServer({ dataDir });
  await second.event("recovered", ({ staleWorkerIds }) =>
    (staleWorkerIds as string[]).includes(first.workerId),
  );
  await waitUntil("the row of the stopped worker is deleted", async () => {
    const text = "select from worker._private_workers where id = $1";
    return (await sql(text, [first.workerId])).length === 0;
  });
  await second.stop();
});
