// For how long beats have gone through without a gap: what tells a death from an outage of the
// database. A worker's row keeps it, and who begins takes it over from who was heard just before.
import assert from "node:assert/strict";
import { test } from "node:test";
import { beat, registerLease } from "../../../src/queue/workers/lease.ts";
import { testQueue } from "../../queue/queue-database.ts";
import { jobsOf } from "../recovery-jobs.ts";
import { QUICK, until, workerProcess } from "../worker-process.ts";

const queue = testQueue();
const { add, job } = jobsOf(queue);

const LEASE = '{"threshold_ms": 7000, "resilient_threshold_ms": 60000}';
const GAP_MS = 4_500;
const HEARD_MS = 3_000;

/** As if all that there is had happened so much earlier (later, where it is negative). */
const earlier = (interval: string) =>
  queue.sql(
    `update worker._private_workers set last_heartbeat_at = last_heartbeat_at - $1::interval,
     metadata = metadata || jsonb_build_object('steady_since_ms',
       (metadata ->> 'steady_since_ms')::float8 - extract(epoch from $1::interval) * 1000)`,
    [interval],
  );

async function beaten(id: string, isBroken = false, text: string | null = null) {
  const metadata = text === null ? null : { id, text };
  const asked = { leaseIds: [id], metadata, silenceMs: null, isBroken, longestGapMs: GAP_MS };
  return Math.round((await beat(queue.db, asked)).uptimeMs / 1_000);
}

const registered = async (id: string) =>
  Math.round((await registerLease(queue.db, id, LEASE, HEARD_MS)).uptimeMs / 1_000);

test("Beats go on until there is a gap, whichever way the clock goes, or one fails.", async () => {
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

test("Who begins goes on from who was heard just before, and no earlier.", async () => {
  await registered("first");
  for (let n = 0; n < 4; n++) {
    await earlier("2 s");
    await beaten("first");
  }
  assert.equal(await registered("second"), 8);
  // That one goes on from there, whatever becomes of the first.
  await queue.sql("delete from worker._private_workers where id = 'first'");
  await earlier("2 s");
  assert.equal(await beaten("second"), 10);
  await earlier("4 s");
  assert.equal(await registered("late"), 0);
  await queue.sql("delete from worker._private_workers where id = 'late'");
  // Of another make, or from the future: nothing can be taken over.
  await queue.sql(`update worker._private_workers set last_heartbeat_at = now() + interval '1 h'`);
  await queue.sql(
    `insert into worker._private_workers (id, last_heartbeat_at, metadata)
     values ('rust', now(), null), ('odd', now(), '{"steady_since_ms": "x"}')`,
  );
  assert.equal(await registered("third"), 0);
});

test("In a fleet of which nobody lives for as long as a lease, the dead are found.", async () => {
  const recovery = { ...QUICK, thresholdMs: 2_000, heartbeatIntervalMs: 500 };
  const { id } = await add("held");
  const first = await workerProcess(queue.url, { recovery });
  await first.event("started");
  let lastOne = first;
  // Each begins before the one before it is killed.
  await until("somebody has freed the job", async () => {
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
