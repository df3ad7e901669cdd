// Tests that jobs which run for many hours keep their locks beside Graphile workers. Graphile workers remove all locks
// that are older than 4 hours. Hours are simulated: all locks are repeatedly made an hour older.
import { Logger, run as runStock } from "graphile-worker";
import { testPool } from "../../support/test-pool.ts";
import { machineTime } from "../../worker/run-log.ts";
import { record } from "../../worker/workload.ts";
import type { FaultGroup, Field } from "../field/field.ts";
import type { Stand } from "../field/stand.ts";

/** The workers of this library renew their locks four times in this time. */
const STALE_LOCK_MS = 6_000;
const RENEWED = { most: STALE_LOCK_MS / 4 + 1_000 };
const HOURS = 12;
/** The longest duration of a simulated hour, if the machine is not overloaded. */
const HOUR_MS = 4_000;

export const group: FaultGroup = {
  name: "long-jobs",
  title: "jobs of twelve hours keep their locks, and their queues, beside Graphile workers",
  limitMinutes: 6,
  needs: [],
  async run(field: Field) {
    const server = await field.server();
    const stands = await field.stands(server, {
      // Not the mode `beside stock`, because a Graphile worker does not renew the locks of its jobs.
      modes: ["safe", "fast"],
      recovery: { staleLockThresholdMs: STALE_LOCK_MS, resetLocksIntervalMs: 200 },
    });
    const hours = field.times(HOURS, 3);
    await field.each(stands, async (stand) => {
      await stand.hire(2);
      await using _ = await stockResetters(stand.url);
      stand.load(5);
      const long = await addLongJobs(stand, hours * HOUR_MS);
      await stand.until("the long jobs and their queue are locked by locked_by", async () => {
        const held = await locksOf(stand, long);
        return held.length === 3 && held.every(({ is_locked }) => is_locked);
      });
      for (let hour = 1; hour <= hours; hour++) await anHourPasses(stand, long);
      field.say(`${stand.mode.name}: ${hours} hours have passed`);
      await stand.end();
      if (runsOfLong(stand).length > 2) stand.problem("a long job was started again while it ran");
    });
  },
};

const runsOfLong = (stand: Stand) => stand.runs().filter(({ n }) => n.startsWith("long"));

/** Returns the ids of the long jobs. */
async function addLongJobs(stand: Stand, ms: number): Promise<string[]> {
  const utils = await stand.utils;
  const short = { ms: 1, failures: 0, children: 0 };
  const jobs = await utils.addJobs([
    { identifier: "single", payload: { ...short, n: "long", ms } },
    {
      identifier: "single",
      payload: { ...short, n: "long first", ms },
      spec: { queueName: "line" },
    },
    { identifier: "single", payload: { ...short, n: "second" }, spec: { queueName: "line" } },
    { identifier: "single", payload: { ...short, n: "third" }, spec: { queueName: "line" } },
  ]);
  for (const job of jobs) record(job, stand.log);
  return jobs.slice(0, 2).map(({ id }) => id);
}

const older = (
  table: string,
) => `update worker.${table} set locked_at = locked_at - interval '1 hour'
  where id in (select id from worker.${table} where locked_at is not null for update skip locked)`;
const LOCKS = `select locked_by is not null as is_locked, now() - locked_at > interval '30 min' as is_old
  from worker._private_jobs where id = any($1)
  union all
  select locked_by is not null, now() - locked_at > interval '30 min'
  from worker._private_job_queues where queue_name = 'line'`;

const locksOf = (stand: Stand, ids: readonly string[]) =>
  stand.sql<{ is_locked: boolean; is_old: boolean }>(LOCKS, [ids]);

/** Makes all locks an hour older, and waits until the locks of the long jobs and of their queue are renewed. */
async function anHourPasses(stand: Stand, long: readonly string[]): Promise<void> {
  await stand.sql(older("_private_jobs"));
  await stand.sql(older("_private_job_queues"));
  const from = machineTime();
  await stand.until("the locks are renewed", async () => {
    const locks = await locksOf(stand, long);
    const isTaken = locks.length < 3 || locks.some(({ is_locked }) => !is_locked);
    if (isTaken) stand.problem("the lock of a long job, or of its queue, is gone");
    return isTaken || locks.every(({ is_old }) => !is_old);
  });
  stand.figure("a lock that is an hour old is renewed", machineTime() - from, RENEWED);
}

/** Starts two Graphile workers that run no jobs, and reset old locks five to ten times a second. */
async function stockResetters(url: string): Promise<AsyncDisposable> {
  const handle = testPool(url);
  const often = { minResetLockedInterval: 100, maxResetLockedInterval: 200 };
  const runners = await Promise.all(
    [1, 2].map(() =>
      runStock({
        ...{ pgPool: handle.pool, schema: "worker", noHandleSignals: true },
        logger: new Logger(() => () => {}),
        taskList: { "a task without jobs": () => {} },
        preset: { worker: often },
      }),
    ),
  );
  return {
    [Symbol.asyncDispose]: async () => {
      await Promise.all(runners.map((runner) => runner.stop()));
      await handle.close();
    },
  };
}
