// Ends a test stand (stand.ts): waits until all jobs are done, stops all members, and checks the stand's log and
// database.
import { judge, type Leniency } from "../../worker/oracle.ts";
import type { Entry } from "../../worker/run-log.ts";
import type { JobLeft } from "../../worker/worker-queue.ts";
import { FORBIDDEN } from "../../worker/workload.ts";
import type { Stand } from "./stand.ts";

export interface Expectation {
  /** Values that replace those of leniencyOf(). */
  readonly lenient?: Leniency;
  /** Replaces the oracle, judge(), for example if commits may be lost. Returns each problem as a sentence. */
  readonly judged?: (log: readonly Entry[], left: readonly JobLeft[]) => string[];
  /**
   * How long verdict() waits until the heartbeat rows of killed members are deleted. Default 90 s:
   * `resilientThresholdMs` (60 s) and a margin.
   */
  readonly leaseRowsWithinMs?: number;
  /** How long verdict() waits until all jobs are done. Default 120 s. */
  readonly drainedWithinMs?: number;
}

const LEASE_ROWS_MS = 90_000;
const DRAIN_MS = 120_000;
const STOP_MS = 35_000;
const CLOSED_MS = 10_000;

// Jobs with the flag FORBIDDEN are left out, because no worker may run them.
const UNFINISHED = `from worker._private_jobs j
  where (j.is_available or j.locked_at is not null)
  and not coalesce(j.flags ? '${FORBIDDEN}', false)`;
// Makes retries due at once.
const HURRY = `update worker._private_jobs set run_at = now()
  where is_available and attempts > 0 and run_at > now()`;
const LEFT = `select j.id::text, j.payload::text, j.attempts, j.max_attempts, j.last_error,
  j.locked_by, j.key, q.queue_name as queue, extract(epoch from j.run_at - now())::float8 as wait_s
  from worker._private_jobs j
  left join worker._private_job_queues q on q.id = j.job_queue_id order by j.id`;
const LOCKED_QUEUES = `select queue_name as name from worker._private_job_queues
  where locked_at is not null and locked_by not like 'managed:%'`;
const HOLDERS = `select distinct locked_by as id from worker._private_jobs
  where locked_by is not null and locked_by not in (select id from worker._private_workers)`;
const SESSIONS = `select application_name as name, count(*)::int as count from pg_stat_activity
  where datname = current_database() and pid <> pg_backend_pid()
  and backend_type = 'client backend' and application_name like 'worker%' group by 1`;

/** Ends a stand. Returns each problem as a sentence. */
export async function verdict(stand: Stand, expected: Expectation): Promise<string[]> {
  const problems: string[] = [];
  const { drainedWithinMs = DRAIN_MS, leaseRowsWithinMs = LEASE_ROWS_MS } = expected;
  const reportAs = (sentence: string) => (error: Error) => {
    problems.push(`${sentence}: ${error.message}`);
  };
  await releaseEndedStock(stand);
  await drained(stand, drainedWithinMs).catch(reportAs("something is stuck"));
  await leasesOfLiving(stand, leaseRowsWithinMs).catch(
    reportAs("dead members have heartbeat rows"),
  );
  problems.push(...(await ended(stand)));
  const gone = () => stand.sql<{ name: string; count: number }>(SESSIONS);
  await stand
    .until("all connections are closed", async () => (await gone()).length === 0, CLOSED_MS)
    .catch(async () => problems.push(`connections are left: ${JSON.stringify(await gone())}`));
  const rows = await stand.sql("select id from worker._private_workers");
  if (rows.length > 0) problems.push(`heartbeat rows are left: ${JSON.stringify(rows)}`);
  const left = await stand.sql<JobLeft>(LEFT);
  const queues = await stand.sql<{ name: string }>(LOCKED_QUEUES);
  const names = queues.map(({ name }) => name);
  const log = stand.log.read();
  const judged = expected.judged?.(log, left);
  return [...problems, ...(judged ?? judge(log, left, names, leniencyOf(stand, expected.lenient)))];
}

/** Returns which violations the oracle has to accept. */
function leniencyOf({ mode, log, leasesLost }: Stand, given: Leniency = {}): Leniency {
  const killed = log.read().some(({ e }) => e === "dead");
  return { killed, cutFastLanes: mode.fastLane !== false, leaseLost: leasesLost > 0, ...given };
}

/**
 * If all Graphile workers of the stand have ended, unlocks their jobs. Without the unlock, the locks would remain for
 * 4 hours. If PostgreSQL restarts while a Graphile worker completes jobs, the worker ends with an uncaught error.
 */
async function releaseEndedStock(stand: Stand): Promise<void> {
  const all = stand.members.filter(({ isStock }) => isStock);
  if (all.length === 0 || all.some(({ exit }) => exit === null)) return;
  for (const { by, exit } of all) stand.log.write({ e: "dead", by, t: exit?.at ?? 0 });
  const holders = await stand.sql<{ id: string }>(HOLDERS);
  if (holders.length === 0) return;
  await (await stand.utils).forceUnlockWorkers(holders.map(({ id }) => id));
}

async function drained(stand: Stand, limitMs: number): Promise<void> {
  const left = `select id::text, attempts, locked_by, last_error, payload`;
  await stand
    .until(
      "all jobs are done",
      async () => {
        await stand.sql(HURRY);
        return (await stand.sql(`select 1 ${UNFINISHED} limit 1`)).length === 0;
      },
      limitMs,
    )
    .catch(async (error: Error) => {
      const rows = await stand.sql(`${left} ${UNFINISHED} limit 5`).catch(() => []);
      throw new Error(`${error.message}; left: ${JSON.stringify(rows)}`);
    });
}

/** Waits until running workers of this library have deleted the heartbeat rows of killed workers. */
async function leasesOfLiving(stand: Stand, limitMs: number): Promise<void> {
  // The members are counted at each poll, because a member may still end after its last job.
  const ours = () => stand.living.filter(({ isStock }) => !isStock).length;
  if (ours() === 0) return;
  const count = "select count(*)::int as count from worker._private_workers";
  const isSo = async () => ((await stand.sql<{ count: number }>(count))[0]?.count ?? 0) <= ours();
  await stand.until("only running members have heartbeat rows", isSo, limitMs);
}

/** Stops all running members. Returns a sentence for each member that did not end well. */
async function ended({ living }: Stand): Promise<string[]> {
  const problems = await Promise.all(
    living.map(async (member) => {
      const late = setTimeout(() => member.signal("SIGKILL"), STOP_MS);
      await member.stop();
      clearTimeout(late);
      const { code, signal } = await member.exited;
      // After a stop, Graphile Worker ends its process with the signal that it received.
      const isWell = code === 0 || (member.isStock && signal === "SIGTERM");
      return isWell ? [] : [`${member.by} ended with ${signal ?? code}, not with 0`];
    }),
  );
  return problems.flat();
}
