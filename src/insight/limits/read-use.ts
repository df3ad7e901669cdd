// Reads how much of each limit is in use, and the active back-offs of tasks and named queues.
import { type Database, query, type Statement } from "../../database/database.ts";
import { hasWorkerTable } from "../../database/schema/extensions/has-extension.ts";
import { isNameSize, MAX_REASON_LENGTH, startOfText } from "../../database/unpacked.ts";
import { type LimitDefinition, likePattern, matches } from "../../domain/limits/limit.ts";
import type { StoredLimit } from "../../queue/limits/limits.ts";
import { aheadMs, dateOf, microseconds } from "../../queue/sql/moments.ts";
import { reportedWorkers } from "../expressions/reported-workers.ts";

const MAX_RUNNING = 50_000;
/** The maximum number of jobs that are read from a worker's report. */
const MAX_OF_A_WORKER = 1_000;
const MAX_QUEUES = 10_000;
const MAX_RATES = 10_000;

/**
 * Returns the number of running jobs by the identifier of the task. A job counts if it is locked and the report of a
 * worker lists it as running.
 */
export async function readRunning(
  db: Database,
  limits: readonly StoredLimit[],
): Promise<ReadonlyMap<string, number>> {
  const isAny = limits.some(({ definition }) => definition.scope === "task");
  if (!isAny || !(await hasWorkerTable(db))) return new Map();
  const rows = await query<{ task: string | null; running: number }>(db, runningSql);
  return new Map(rows.flatMap(({ task, running }) => (task === null ? [] : [[task, running]])));
}

// The ids are in an array, so that the planner finds each job by its primary key. For a join, the planner would expect
// millions of rows, and PostgreSQL would spend a quarter of a second on JIT compilation.
const runningSql: Statement = (s) => `
select (select identifier from ${s}._private_tasks as tasks where tasks.id = running.task_id) as task, running.jobs as running
from (
  select jobs.task_id, pg_catalog.count(*)::int as jobs from ${s}._private_jobs as jobs
  where jobs.locked_at is not null and jobs.id = any(array(
    select list.id::bigint
    from ${reportedWorkers(s)} as workers
    cross join lateral (select id from pg_catalog.jsonb_array_elements_text(
      case when pg_catalog.jsonb_typeof(workers.metadata -> 'running_job_ids'::text) = 'array'
        then workers.metadata -> 'running_job_ids'::text else '[]'::jsonb end) as ids (id)
      limit ${MAX_OF_A_WORKER}) as list
    where case when pg_catalog.length(list.id) < 19 then list.id ~ '^[0-9]+$' else false end
    limit ${MAX_RUNNING}))
  group by jobs.task_id
) as running`;

/** The permits that workers hold under a limit of tasks. */
export interface PermitUse {
  readonly permits: number;
  /** The number of jobs that ran under the limit when the workers last exchanged permits. */
  readonly inUse: number;
}

/** Returns the permits by the id of the limit. */
export async function readGranted(
  db: Database,
  limits: readonly StoredLimit[],
): Promise<ReadonlyMap<number, PermitUse>> {
  const isAny = limits.some(({ definition }) => definition.scope === "task");
  if (!isAny) return new Map();
  const rows = await query<{ id: number; permits: number; in_use: number }>(db, grantedSql);
  return new Map(rows.map(({ id, permits, in_use: inUse }) => [id, { permits, inUse }]));
}

const grantedSql: Statement = (s) => `
select limit_id as id, least(pg_catalog.sum(permits), 2147483647::bigint)::int as permits,
  least(pg_catalog.sum(in_use), 2147483647::bigint)::int as in_use
from ${s}._private_limit_permits group by limit_id`;

/**
 * Returns the number of running jobs of a limit of tasks, from reports or from permits, whichever is larger. Both can
 * be seconds old.
 */
export function runningOf(
  { id, definition }: StoredLimit,
  running: ReadonlyMap<string, number>,
  granted: ReadonlyMap<number, PermitUse>,
): number {
  const reported = [...running].reduce(
    (sum, [task, n]) => sum + (isFor(definition, task) ? n : 0),
    0,
  );
  return Math.max(reported, granted.get(id)?.inUse ?? 0);
}

/** A named queue with a slot in use. `running`: how many of its `slots` are in use. */
export interface BusyQueue {
  readonly name: string;
  readonly running: number;
  readonly slots: number;
}

export async function readBusyQueues(
  db: Database,
  limits: readonly StoredLimit[],
): Promise<readonly BusyQueue[]> {
  const isAny = limits.some(({ definition }) => definition.scope === "queue");
  return isAny ? query<BusyQueue>(db, busySql) : [];
}

const busySql: Statement = (s) => `
with busy as materialized (
  select queue_id, pg_catalog.count(*)::int as running
  from ${s}._private_queue_slots where locked_by is not null
  group by queue_id order by running desc limit ${MAX_QUEUES}
)
select queues.queue_name as name, busy.running,
  (select pg_catalog.count(*)::int from ${s}._private_queue_slots as slots
    where slots.queue_id = busy.queue_id) as slots
from busy
join ${s}._private_job_queues as queues on queues.id = busy.queue_id
order by busy.running desc, queues.queue_name`;

/**
 * Theoretical arrival times (next-start.ts), in milliseconds from now, by the id of the limit and the name of the
 * queue. The name is "" for a limit of tasks.
 */
export type RateTimes = ReadonlyMap<number, ReadonlyMap<string, number>>;

/** Returns the theoretical arrival times that are in the future or less than 10 s ago, at most 10,000. */
export async function readRates(db: Database): Promise<RateTimes> {
  const rows = await query<{ limit_id: number; key: string; ahead_ms: number }>(db, ratesSql);
  const times = new Map<number, Map<string, number>>();
  for (const { limit_id: id, key, ahead_ms: ms } of rows) {
    times.set(id, (times.get(id) ?? new Map<string, number>()).set(key, ms));
  }
  return times;
}

const ratesSql: Statement = (s) => `
select limit_id, key,
  ${aheadMs("tat", "pg_catalog.clock_timestamp()")} as ahead_ms
from ${s}._private_rates where ${isNameSize("key")} and tat > pg_catalog.clock_timestamp() - interval '10 seconds'
order by tat desc limit ${MAX_RATES}`;

/** The maximum number of patterns whose matching queues are counted. Each count reads the table of queues. */
const MAX_COUNTED = 20;
const MAX_NAMES = 100_000;

/**
 * Returns the number of matching queues by the id of the limit, and 1 for a limit without a pattern. Patterns that
 * match more than MAX_NAMES queues, and all after the first MAX_COUNTED patterns, are left out.
 */
export async function readQueueCounts(
  db: Database,
  limits: readonly StoredLimit[],
): Promise<ReadonlyMap<number, number>> {
  const ofQueues = limits.filter(({ definition }) => definition.scope === "queue");
  const exact = ofQueues.filter(({ definition }) => !definition.match.includes("*"));
  const patterns = ofQueues.filter((one) => !exact.includes(one)).slice(0, MAX_COUNTED);
  const counts = new Map(exact.map(({ id }) => [id, 1]));
  if (patterns.length === 0) return counts;
  const rows = await query<{ id: number; queues: number }>(db, countsSql, [
    patterns.map(({ id }) => id),
    patterns.map(({ definition }) => likePattern(definition.match)),
  ]);
  for (const { id, queues } of rows) if (queues <= MAX_NAMES) counts.set(id, queues);
  return counts;
}

const countsSql: Statement = (s) => `
select given.id, (select pg_catalog.count(*)::int from (
    select from ${s}._private_job_queues where queue_name like given.pattern limit ${MAX_NAMES + 1}) as matching) as queues
from rows from (pg_catalog.unnest($1::int[]), pg_catalog.unnest($2::text[])) as given (id, pattern)`;

export interface BackingOff {
  readonly until: Date;
  readonly reason: string | null;
}

/** Returns at most 10,000 active back-offs of tasks and named queues, by the scope, a space and the name. */
export async function readBackingOff(db: Database): Promise<ReadonlyMap<string, BackingOff>> {
  const rows = await query<BackingOffRow>(db, backingOffSql);
  return new Map(
    rows.map(({ scope, name, until_us, reason }) => [
      `${scope} ${name}`,
      { until: dateOf(until_us), reason },
    ]),
  );
}

interface BackingOffRow {
  readonly scope: string;
  readonly name: string;
  readonly until_us: string;
  readonly reason: string | null;
}

const MAX_BACK_OFFS = 10_000;

// A back-off is active only while a pause of the same task or queue with the same end exists. A pause with another end
// was set or changed by a user.
const backingOffSql: Statement = (s) => `
select backs.scope, ${startOfText("backs.name")} as name, ${microseconds("backs.until")}::text as until_us,
  ${startOfText("backs.reason", MAX_REASON_LENGTH)} as reason
from ${s}._private_back_offs as backs
where ${isNameSize("backs.name")} and backs.until > pg_catalog.now() and backs.scope <> 'limit' and exists (
  select from ${s}._private_pauses as pauses
  where pauses.scope = backs.scope and pauses.name = backs.name and pauses.resume_at = backs.until)
order by backs.began_at limit ${MAX_BACK_OFFS}`;

/** Whether the limit's `match` is `name` or a pattern that matches `name`. Does not check the scope. */
export const isFor = ({ match }: LimitDefinition, name: string | null): boolean =>
  name !== null && (match.includes("*") ? matches(match, name) : match === name);
