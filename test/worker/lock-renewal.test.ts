// Tests that the locks of jobs that run for hours are renewed, and that a failed renewal is repeated long before the
// next renewal is due.
import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { silentLogger } from "../../src/base/logger.ts";
import { HeartbeatLoop } from "../../src/worker/lease/heartbeat-loop.ts";
import { LockRenewal } from "../../src/worker/lease/lock-renewal.ts";
import { heartbeat, lockJob, testQueue } from "../queue/queue-database.ts";
import { jobsOf } from "./recovery-jobs.ts";
import { waitUntil } from "./worker-queue.ts";

const queue = testQueue();
const { add } = jobsOf(queue);

/**
 * Refuses the first renewal of a lock of the worker `me`. A sequence counts the renewals, because a rollback does not
 * reset it.
 */
beforeEach(async () => {
  await queue.sql(`create sequence if not exists public.renewals`);
  await queue.sql("alter sequence public.renewals restart");
  await queue.sql(`create or replace function public.refuse_once() returns trigger language plpgsql as
    'begin if nextval(''public.renewals'') = 1 then raise exception ''not now''; end if; return new; end';
    create or replace trigger refuse_once before update on worker._private_jobs
      for each row when (old.locked_by = 'me' and new.locked_by = 'me') execute function public.refuse_once()`);
});

/** Adds a job that the worker `me` has run for hours, and returns the job's id. */
async function longJob(): Promise<string> {
  const { id } = await add("long");
  await lockJob(queue, id, "me", "3 hours");
  return id;
}

const isRenewed = async (id: string) => {
  const text = `select from worker._private_jobs
    where id = $1 and locked_by = 'me' and locked_at > now() - interval '1 hour'`;
  return (await queue.sql(text, [id])).length === 1;
};

test("A failed renewal of the locks of long jobs is repeated before the next renewal is due.", async () => {
  const id = await longJob();
  let next: LockRenewal | undefined;
  const order: string[] = [];
  const parts = { database: queue.db, staleLockThresholdMs: 8_000 };
  // `next` starts when the first renewal of `renewal` fails, and calls onNext() a whole interval later. At that time
  // the next renewal of `renewal` would be due if the first one had not failed.
  const onNext = () => {
    order.push("the next renewal is due");
    return [];
  };
  const warn = () => {
    order.push("failed");
    next ??= new LockRenewal({ ...parts, logger: silentLogger, running: onNext });
    next.start();
  };
  const debug = () => void order.push("renewed");
  const renewal = new LockRenewal({
    ...parts,
    logger: { ...silentLogger, warn, debug },
    running: () => [{ id: "me", runningIds: [id] }],
  });
  renewal.start();
  try {
    await waitUntil(
      "the failed, the repeated and the next renewal have happened",
      () => new Set(order).size === 3,
    );
    assert.deepEqual(order.slice(0, 2), ["failed", "renewed"]);
    assert.equal(await isRenewed(id), true);
  } finally {
    await Promise.all([renewal.stop(), next?.stop()]);
  }
});

test("While a worker's thread is blocked, its heartbeats repeat a failed renewal of locks before the next renewal is due.", async () => {
  const id = await longJob();
  await heartbeat(queue, "me", { threshold_ms: 7_000 });
  const reports: string[] = [];
  const loop = new HeartbeatLoop(
    {
      connection: { connectionString: queue.url },
      schema: queue.db.schema,
      leases: [],
      intervalMs: 100,
      sweepIntervalMs: 60_000,
      longestGapMs: 60_000,
      statementTimeoutMs: 10_000,
      renewLocksEveryMs: 60_000,
      lastHeartbeat: new SharedArrayBuffer(16),
      // The worker's thread has not run since the machine started.
      lastTurn: new SharedArrayBuffer(8),
    },
    ({ report }) => void reports.push(report),
  );
  loop.take({ command: "leases", leases: [{ id: "me", table: 0, renewed_ms: 0 }] });
  const running = loop.run();
  try {
    await waitUntil("the renewal has failed", () => reports.includes("unrenewed"));
    assert.equal(await isRenewed(id), false);
    await waitUntil("the repeated renewal has succeeded", () => isRenewed(id));
  } finally {
    await loop.stop(running);
  }
});
