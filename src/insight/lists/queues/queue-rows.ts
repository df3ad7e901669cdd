// Reads named queues and their locks. queue-states.ts describes stuck queues.
import type { Database, Statement } from "../../../database/database.ts";
import { query } from "../../../database/database.ts";
import { hasWorkerTable } from "../../../database/schema/extensions/has-extension.ts";
import { shownLock } from "../../../queue/pauses/paused-run.ts";
import { isBlockedQueue } from "../../../queue/sql/lock.ts";
import { microseconds } from "../../../queue/sql/moments.ts";
import { STALE_LOCK_MS } from "../../../queue/workers/reset-stale-locks.ts";
import { isNotResponding } from "../../../queue/workers/stale-workers.ts";
import { reportedWorkers } from "../../expressions/reported-workers.ts";
import type { WorkerState } from "../known-workers.ts";

export interface ListedQueueRow {
  readonly id: number;
  readonly queueName: string;
  /** The time of the worker's lock (`shownLock`), in microseconds since 1970; null: no worker has locked the queue. */
  readonly lockedAtUs: string | null;
  /** The id of the worker that has locked the queue. */
  readonly lockedBy: string | null;
  readonly holder: WorkerState | null;
  /** The time of the lock or, if it is later, of the stale worker's last heartbeat; null if the queue is not stuck. */
  readonly stuckSinceUs: string | null;
  readonly isPaused: boolean;
}

export interface QueueFilter {
  /** A text that the queue's name contains, ignoring case; empty: any name. */
  readonly search: string;
  /** `locked`: only queues that a worker or a pause has locked. `free`: all other queues. */
  readonly only: "locked" | "free" | "all";
  /** `among`: only these queues. `except`: only other queues. null: all queues. */
  readonly ids:
    | { readonly among: readonly number[] }
    | { readonly except: readonly number[] }
    | null;
  /** Only queues whose names come after this name; null: any name. */
  readonly after: string | null;
  readonly limit: number;
  readonly hasHeartbeats: boolean;
}

/** Returns at most `limit` matching queues, by name; for `only: "locked"`, the oldest lock first. */
export async function queueRows(db: Database, filter: QueueFilter): Promise<ListedQueueRow[]> {
  const { search, only, ids, after, limit, hasHeartbeats } = filter;
  const statement =
    statements[hasHeartbeats ? "withHeartbeats" : "withoutHeartbeats"].ordered[only];
  return (await query<Row>(db, statement, [search, after, limit, ...idParameters(ids)])).map(
    toQueueRow,
  );
}

/** Returns all matching queues, unordered; null if `limit` or more queues match. Faster than queueRows(). */
export async function allQueueRows(
  db: Database,
  { search, only, ids: condition, limit, hasHeartbeats }: Omit<QueueFilter, "after">,
): Promise<ListedQueueRow[] | null> {
  const statement = statements[hasHeartbeats ? "withHeartbeats" : "withoutHeartbeats"].whole[only];
  const [row] = await query<Columns>(db, statement, [
    search,
    null,
    limit,
    ...idParameters(condition),
  ]);
  const ids = JSON.parse(row?.ids ?? "[]") as number[];
  const names = JSON.parse(row?.names ?? "[]") as string[];
  const lockedRows = JSON.parse(row?.locked_rows ?? "[]") as Row[];
  if (ids.length >= limit) return null;
  const lockedById = new Map(lockedRows.map((one) => [one.id, toQueueRow(one)]));
  return ids.map((id, n) => lockedById.get(id) ?? { id, queueName: names[n] ?? "", ...FREE });
}

const FREE = {
  lockedAtUs: null,
  lockedBy: null,
  holder: null,
  stuckSinceUs: null,
  isPaused: false,
};

/** Returns the parameters $4 and $5. */
function idParameters(ids: QueueFilter["ids"]): [readonly number[] | null, boolean] {
  if (ids === null) return [null, false];
  return "among" in ids ? [ids.among, true] : [ids.except, false];
}

/** Returns the queue with this name or else with this id; null if there is none. */
export async function queueRow(db: Database, nameOrId: string): Promise<ListedQueueRow | null> {
  // PostgreSQL refuses a parameter that contains this character.
  if (nameOrId.includes("\0")) return null;
  const id = /^\d{1,10}$/.test(nameOrId) && Number(nameOrId) < 2 ** 31 ? Number(nameOrId) : null;
  const statement = (await hasWorkerTable(db)) ? oneWithHeartbeatsSql : oneWithoutHeartbeatsSql;
  const [row] = await query<Row>(db, statement, [nameOrId, id]);
  return row === undefined ? null : toQueueRow(row);
}

/** Returns at most `limit` queues that this worker has locked, the oldest lock first. */
export async function queueRowsLockedBy(
  db: Database,
  workerId: string,
  limit: number,
): Promise<ListedQueueRow[]> {
  const statement = (await hasWorkerTable(db))
    ? lockedWithHeartbeatsSql
    : lockedWithoutHeartbeatsSql;
  return (await query<Row>(db, statement, [workerId, limit])).map(toQueueRow);
}

/** Returns the number of queues whose name contains this text. */
export async function countQueues(db: Database, search: string): Promise<number> {
  const [row] = await query<{ count: number }>(db, countSql, [search]);
  return row?.count ?? 0;
}

interface Row {
  readonly id: number;
  readonly queue_name: string;
  readonly locked_at_us: string | null;
  readonly locked_by: string | null;
  readonly holder: WorkerState | null;
  readonly stuck_since_us: string | null;
  readonly is_paused: boolean;
}

/** JSON arrays; null instead of an empty array. `names` has the same order as `ids`. */
interface Columns {
  readonly ids: string | null;
  readonly names: string | null;
  readonly locked_rows: string | null;
}

function toQueueRow(row: Row): ListedQueueRow {
  return {
    id: row.id,
    queueName: row.queue_name,
    lockedAtUs: row.locked_at_us,
    lockedBy: row.locked_by,
    holder: row.holder,
    stuckSinceUs: row.stuck_since_us,
    isPaused: row.is_paused,
  };
}

const lock = shownLock("queues");
const { isLocked } = lock;
/** Unlike `isLocked`, this condition also includes queues that a pause has locked. */
const isBlocked = isBlockedQueue("queues");
const isOld = `${isLocked} and queues.locked_at < pg_catalog.now() - ${STALE_LOCK_MS}::float8 * interval '1 millisecond'`;

// `materialized`: a worker's row may be long, so it is read only once, even if the worker has locked many queues.
const withHeartbeats = {
  workers: (s: string) => `with worker as materialized (
    select workers.id, workers.last_heartbeat_at, ${isNotResponding} as is_stale
    from ${reportedWorkers(s)} as workers
  )`,
  holder: `case when not (${isLocked}) then null when worker.id is null then 'unknown'
      when worker.is_stale then 'stale' else 'alive' end`,
  stuckSince: `case when not (${isLocked}) then null
      when worker.id is null then case when ${isOld} then queues.locked_at end
      when worker.is_stale then greatest(queues.locked_at, worker.last_heartbeat_at) end`,
  join: `left join worker on worker.id = ${lock.holder}`,
};
const withoutHeartbeats = {
  workers: () => "",
  holder: `case when ${isLocked} then 'unknown' end`,
  stuckSince: `case when ${isOld} then queues.locked_at end`,
  join: "",
};

type WorkerSql = typeof withHeartbeats | typeof withoutHeartbeats;

const columns = (s: string, { workers, holder, stuckSince, join }: WorkerSql) => `
  ${workers(s)}
  select queues.id, queues.queue_name, ${lock.holder} as locked_by,
    ${microseconds(lock.lockedAt)}::text as locked_at_us, ${lock.isPaused} as is_paused,
    ${holder} as holder,
    ${microseconds(stuckSince)}::text as stuck_since_us
  from ${s}._private_job_queues as queues
  ${join}`;

const isFound = `($1::text = '' or pg_catalog.strpos(pg_catalog.lower(queues.queue_name), pg_catalog.lower($1::text)) > 0)`;

type LockFilter = QueueFilter["only"];

const foundSql = (s: string, worker: WorkerSql, only: LockFilter) => `${columns(s, worker)}
  where ${isFound} and ($2::text is null or queues.queue_name > $2::text)
    ${{ locked: `and ${isBlocked}`, free: `and not (${isBlocked})`, all: "" }[only]}
    and ($4::int[] is null or (queues.id = any ($4::int[])) = $5::bool)`;

const rowsSql =
  (worker: WorkerSql, only: LockFilter): Statement =>
  (s) =>
    `${foundSql(s, worker, only)}
  order by ${only === "locked" ? "queues.locked_at, queues.id" : "queues.queue_name"}
  limit $3::int`;

const wholeSql =
  (worker: WorkerSql, only: LockFilter): Statement =>
  (s) =>
    `
  select pg_catalog.json_agg(found.id)::text as ids, pg_catalog.json_agg(found.queue_name)::text as names,
    (pg_catalog.json_agg(found) filter (where found.locked_at_us is not null or found.is_paused))::text as locked_rows
  from (${foundSql(s, worker, only)}
  limit $3::int) as found`;

type StatementFor = (worker: WorkerSql, only: LockFilter) => Statement;

const each = (make: StatementFor, worker: WorkerSql) => ({
  locked: make(worker, "locked"),
  free: make(worker, "free"),
  all: make(worker, "all"),
});
const both = (worker: WorkerSql) => ({
  ordered: each(rowsSql, worker),
  whole: each(wholeSql, worker),
});
const statements = {
  withHeartbeats: both(withHeartbeats),
  withoutHeartbeats: both(withoutHeartbeats),
};

const oneSql =
  (worker: WorkerSql): Statement =>
  (s) =>
    `${columns(s, worker)}
  where queues.queue_name = $1::text or queues.id = $2::int
  order by queues.queue_name <> $1::text
  limit 1`;
const oneWithHeartbeatsSql = oneSql(withHeartbeats);
const oneWithoutHeartbeatsSql = oneSql(withoutHeartbeats);

const lockedSql =
  (worker: WorkerSql): Statement =>
  (s) =>
    `${columns(s, worker)}
  where queues.locked_by = $1::text and ${isLocked}
  order by queues.locked_at, queues.id
  limit $2::int`;
const lockedWithHeartbeatsSql = lockedSql(withHeartbeats);
const lockedWithoutHeartbeatsSql = lockedSql(withoutHeartbeats);

const countSql: Statement = (s) => `
  select pg_catalog.count(*)::int as count from ${s}._private_job_queues as queues where ${isFound}`;
