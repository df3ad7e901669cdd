// Tests that workers restore the rows of named queues that were deleted although the queues have jobs. A cleanup by
// Graphile Worker may delete such rows. The restored queues have new names.
import assert from "node:assert/strict";
import { test } from "node:test";
import { silentLogger } from "../../src/base/logger.ts";
import type { Queryable } from "../../src/database/database.ts";
import { LockReset } from "../../src/worker/lease/lock-reset.ts";
import { testQueue } from "../queue/queue-database.ts";
import { waitUntil } from "./worker-queue.ts";

const queue = testQueue();

test("A worker searches all jobs for lost queues only after the row of a queue was deleted.", async () => {
  await queue.sql("select worker.add_job('t', '{}', 'q')");
  const texts: string[] = [];
  const { query } = queue.db.client;
  const client = new Proxy(queue.db.client, {
    get: (target, name) => (name === "query" ? recorded : Reflect.get(target, name)),
  }) as Queryable;
  const recorded = (...given: Parameters<typeof query>) => {
    const [first] = given as unknown as [string | { text: string }];
    texts.push(typeof first === "string" ? first : first.text);
    return query.apply(queue.db.client, given);
  };
  const checks = () => texts.filter((text) => text.includes("pg_stat_get_tuples_deleted")).length;
  const reads = () => texts.filter((text) => text.includes("lost_queue")).length;
  const reset = new LockReset({
    database: { ...queue.db, client },
    intervalMs: 20,
    staleLockThresholdMs: 14_400_000,
    logger: silentLogger,
    hasHeartbeats: () => true,
    wake: () => {},
  });
  reset.start();
  try {
    await waitUntil("three checks for deleted queue rows have run", () => checks() >= 3);
    assert.equal(reads(), 0);

    await queue.sql("delete from worker._private_job_queues");
    await waitUntil("the queue has a row again", async () =>
      (await names()).includes("recovered-queue-1"),
    );
    // The next check reads all jobs again: a transaction that was open during the first read may have added a job.
    await waitUntil("all jobs are searched a second time", () => reads() >= 2);
    const before = checks();
    await waitUntil(
      "three more checks for deleted queue rows have run",
      () => checks() >= before + 3,
    );
    assert.equal(reads(), 2);
  } finally {
    await reset.stop();
  }
});

test("Lost queues are restored although PostgreSQL refuses to unlock another queue.", async () => {
  await queue.sql("select worker.add_job('t', '{}', 'q'), worker.add_job('t', '{}', 'stuck')");
  await queue.sql(`update worker._private_job_queues
    set locked_by = 'stock', locked_at = now() - interval '5 hours' where queue_name = 'stuck'`);
  await queue.sql(`create function public.refuse() returns trigger language plpgsql as
      'begin raise exception ''refused''; end';
    create trigger refuse before update on worker._private_job_queues
      for each row execute function public.refuse()`);
  const warnings: string[] = [];
  const warn = (_fields: object, message: string) => void warnings.push(message);
  const reset = new LockReset({
    database: queue.db,
    intervalMs: 20,
    staleLockThresholdMs: 14_400_000,
    logger: { ...silentLogger, warn },
    hasHeartbeats: () => true,
    wake: () => {},
  });
  reset.start();
  try {
    await waitUntil("the warning about stale locks is logged", () =>
      warnings.includes("stale locks could not be reset"),
    );
    await queue.sql("delete from worker._private_job_queues where queue_name = 'q'");
    await waitUntil("the queue has a row again", async () =>
      (await names()).includes("recovered-queue-1"),
    );
  } finally {
    await reset.stop();
    await queue.sql("drop function public.refuse cascade");
  }
});

const names = async () => {
  const rows = await queue.sql("select queue_name from worker._private_job_queues");
  return rows.map(({ queue_name }) => queue_name);
};
