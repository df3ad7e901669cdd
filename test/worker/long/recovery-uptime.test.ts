// Tests the uptime of heartbeats: how long heartbeats have succeeded without a gap. A stale worker is recovered only if
// the uptime is at least as long as the worker's lease. So after an outage of the database, workers that still run have
// time to renew their leases.
import assert from "node:assert/strict";
import { test } from "node:test";
import { registerLease, sendHeartbeat } from "../../../src/queue/workers/lease.ts";
import { testQueue } from "../../queue/queue-database.ts";
import { jobsOf } from "../recovery-jobs.ts";
import { QUICK, waitUntil, workerProcess } from "../worker-process.ts";

const queue = testQueue();
const { add, job } = jobsOf(queue);

const LEASE = '{"threshold_ms": 7000, "resilient_threshold_ms": 60000}';
const GAP_MS = 4_500;
const HEARD_MS = 3_000;

/** Moves the last heartbeats of all workers, and the beginnings of their uptimes, into the past by `interval`. */
const earlier = (interval: string) =>
  queue.sql(
    `update worker._private_workers set last_heartbeat_at = last_heartbeat_at - $1::interval,
     metadata = metadata || jsonb_build_object('steady_since_ms',
       (metadata ->> 'steady_since_ms')::float8 - extract(epoch from $1::interval) * 1000)`,
    [interval],
  );

async function beaten(id: string, isBroken = false, text: string | null = null) {
  const metadata = text === null ? null : { id, text };
  const request = { leaseIds: [id], metadata, silenceMs: null, isBroken, longestGapMs: GAP_MS };
  return Math.round((await sendHeartbeat(queue.db, request)).uptimeMs / 1_000);
}

const registered = async (id: string) =>
  Math.round((await registerLease(queue.db, id, LEASE, HEARD_MS)).uptimeMs / 1_000);

test("The uptime of heartbeats begins again at 0 after a gap, a failed heartbeat, or a step of the clock to an earlier time.", async () => {
  assert.equal(await registered("first"), 0);
  await earlier("2 s");
  assert.equal(await beaten("first"), 2);
  await earlier("4 s");
  assert.equal(await beaten("first", false, LEASE), 6);
  await earlier("5 s");
  assert.equal(await beaten("first"), 0);
  await earlier("2 s");
  assert.equal(await beaten("first", true), 0);
  await earlier("2 s");
  assert.equal(await beaten("first"), 2);
  await earlier("-1 hour");
  assert.equal(await beaten("first"), 0);
});

test("A new worker continues the uptime only of a worker with a recent heartbeat.", async () => {
  await registered("first");
  for (let n = 0; n < 4; n++) {
    await earlier("2 s");
    await beaten("first");
  }
  assert.equal(await registered("second"), 8);
  // The uptime continues after the first worker has ended.
  await queue.sql("delete from worker._private_workers where id = 'first'");
  await earlier("2 s");
  assert.equal(await beaten("second"), 10);
  await earlier("4 s");
  assert.equal(await registered("late"), 0);
  await queue.sql("delete from worker._private_workers where id = 'late'");
  // Rows with a heartbeat in the future, or without a number in `steady_since_ms`, are ignored.
  await queue.sql(`update worker._private_workers set last_heartbeat_at = now() + interval '1 h'`);
  await queue.sql(
    `insert into worker._private_workers (id, last_heartbeat_at, metadata)
     values ('rust', now(), null), ('odd', now(), '{"steady_since_ms": "x"}')`,
  );
  assert.equal(await registered("third"), 0);
});

test("Stale workers are found even if no worker runs for as long as a lease.", async () => {
  const recovery = { ...QUICK, thresholdMs: 2_000, heartbeatIntervalMs: 500 };
  const { id } = await add("held");
  const first = await workerProcess(queue.url, { recovery });
  await first.event("started");
  let lastOne = first;
  // Each worker starts before the previous one is killed.
  await waitUntil("the job was recovered", async () => {
    const next = await workerProcess(queue.url, { recovery, forbiddenFlags: [] });
    lastOne.signal("SIGKILL");
    await lastOne.exited;
    lastOne = next;
    const now = await job(id);
    return now?.locked_by !== first.workerId;
  });
  lastOne.release();
  await lastOne.stop();
});
