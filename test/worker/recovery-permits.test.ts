// Other workers can take the permits of a stale worker as soon as all of its jobs are recovered, even before the row of
// the stale worker is deleted.
import assert from "node:assert/strict";
import { test } from "node:test";
import { recoverStaleWorkers } from "../../src/queue/workers/recover-jobs.ts";
import { lockJob, testQueue } from "../queue/queue-database.ts";
import { migratedDatabase } from "../support/database.ts";
import { jobsOf } from "./recovery-jobs.ts";

const queue = testQueue(() => migratedDatabase("worker", ["limits"]));
const { add } = jobsOf(queue);

test("A recovery withdraws a stale worker's permits, unless a resilient job of the worker may still run.", async () => {
  await queue.sql(`insert into worker._private_workers (id, last_heartbeat_at, metadata)
    select id, now() - interval '8 s', '{"threshold_ms": 7000, "resilient_threshold_ms": 60000}'
    from unnest(array['dead', 'resilient', 'idle']) as id`);
  const limit = { name: "api", task: "task", concurrency: 10 };
  await queue.sql(
    "insert into worker._private_limits (name, scope, match, concurrency) values ($1, 'task', $2, $3)",
    [...[limit.name, limit.task, limit.concurrency]],
  );
  await queue.sql(`insert into worker._private_limit_permits (limit_id, worker_id, permits, in_use, wanted)
    select l.id, w.id, 3, 1, 5 from worker._private_limits as l, worker._private_workers as w`);
  const { id: ordinary } = await add("task");
  const { id: resilient } = await add("task", {}, { flags: ["infrastructure_resilient"] });
  await lockJob(queue, ordinary, "dead", "10 s");
  await lockJob(queue, resilient, "resilient", "10 s");
  const [row] = await queue.sql<{ now_ms: number }>(
    "select extract(epoch from now())::float8 * 1000 as now_ms",
  );
  const ids = ["dead", "idle", "resilient"];
  await recoverStaleWorkers(queue.db, {
    ...{ staleWorkerIds: ids, messages: ids.map(() => null), delayMs: 0 },
    ...{ uptimeMs: 10_000, heartbeatAtMs: row?.now_ms ?? 0, longestGapMs: 60_000 },
  });
  const rows = await queue.sql("select id from worker._private_workers order by id");
  assert.equal(rows.length, 3, "the workers' rows stay until the second pass of the recovery");
  const holders = await queue.sql<{ worker_id: string }>(
    "select worker_id from worker._private_limit_permits",
  );
  assert.deepEqual(holders, [{ worker_id: "resilient" }]);
});
