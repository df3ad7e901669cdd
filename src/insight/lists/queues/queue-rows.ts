// The named queues as their table has them: who holds which, and whether the holder is heard of.
//
//   stuck   held by a silent worker, since its last sign of life; by an unknown one, once the lock is
//           4 hours old

import type { Database, Statement } from "../../../database/database.ts";
import { query } from "../../../database/database.ts";
import { lockHolder } from "../../../queue/sql/lock.ts";
import { microseconds } from "../../../queue/sql/moments.ts";
import { reportedWorkers } from "../../../queue/sql/unpacked.ts";
import { STALE_LOCK_MS } from "../../../queue/workers/reset-stale-locks.ts";
import { isSilent } from "../../../queue/workers/stale-workers.ts";
import { hasWorkerTable } from "../../../queue/workers/worker-table.ts";
import type { WorkerState } from "../known-workers.ts";

export interface ListedQueueRow {
  readonly id: number;
  readonly queueName: string;
  /** Microseconds since 1970. */
  readonly lockedAtUs: string | null;
  readonly lockedBy: string | null;
  readonly holder: WorkerState | null;
  readonly stuckSinceUs: string | null;
}

export interface QueueFilter {
  /** Text in the name; empty: any. */
  readonly search: string;
  readonly only: "locked" | "free" | "all";
  /** Those with these ids alone, or all others; null: any. */
  readonly ids:
    | { readonly among: readonly number[] }
    | { readonly except: readonly number[] }
    | null;
  /** Names after this one. */
  readonly after: string | null;
  readonly limit: number;
  readonly hasHeartbeats: boolean;
}

/** By name; locked ones alone by their locks, the oldest first. */
export async function queueRows(db: Database, filter: QueueFilter): Promise<ListedQueueRow[]> {
  const { search, only, ids, after, limit, hasHeartbeats } = filter;
  const isAmong = ids !== null && "among" in ids;
  const given = ids === null ? null : "among" in ids ? ids.among : ids.except;
  const statement = statements[hasHeartbeats ? "heard" : "blind"][only];
  return (await query<Row>(db, statement, [search, after, limit, given, isAmong])).map(toQueueRow);
}

/** By its name, else by its id. */
export async function queueRow(db: Database, nameOrId: string): Promise<ListedQueueRow | null> {
  // No text of PostgreSQL holds it, not even to be compared with.
  if (nameOrId.includes("\0")) return null;
  const id = /^\d{1,9}$/.test(nameOrId) ? Number(nameOrId) : null;
  const statement = (await hasWorkerTable(db)) ? oneHeardSql : oneBlindSql;
  const [row] = await query<Row>(db, statement, [nameOrId, id]);
  return row === undefined ? null : toQueueRow(row);
}

/** Those that a worker holds, the longest held first; at most `limit`. */
export async function queueRowsHeldBy(
  db: Database,
  workerId: string,
  limit: number,
): Promise<ListedQueueRow[]> {
  const statement = (await hasWorkerTable(db)) ? heldHeardSql : heldBlindSql;
  return (await query<Row>(db, statement, [workerId, limit])).map(toQueueRow);
}

/** Queues with this text in their names. */
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
}

function toQueueRow(row: Row): ListedQueueRow {
  return {
    id: row.id,
    queueName: row.queue_name,
    lockedAtUs: row.locked_at_us,
    lockedBy: row.locked_by,
    holder: row.holder,
    stuckSinceUs: row.stuck_since_us,
  };
}

const isOld = `queues.locked_at < pg_catalog.now() - ${STALE_LOCK_MS}::float8 * interval '1 millisecond'`;

// Each worker is judged once, not for each queue that it holds: its row's metadata may be long.
const heard = {
  workers: (s: string) => `with worker as materialized (
    select workers.id, workers.last_heartbeat_at, ${isSilent} as is_silent
    from ${reportedWorkers(s)} as workers
  )`,
  holder: `case when queues.locked_at is null then null when worker.id is null then 'unknown'
      when worker.is_silent then 'silent' else 'alive' end`,
  stuckSince: `case when queues.locked_at is null then null
      when worker.id is null then case when ${isOld} then queues.locked_at end
      when worker.is_silent then greatest(queues.locked_at, worker.last_heartbeat_at) end`,
  join: `left join worker on worker.id = ${lockHolder("queues")}`,
};
const blind = {
  workers: () => "",
  holder: "case when queues.locked_at is not null then 'unknown' end",
  stuckSince: `case when ${isOld} then queues.locked_at end`,
  join: "",
};

type Knows = typeof heard | typeof blind;

const columns = (s: string, { workers, holder, stuckSince, join }: Knows) => `
  ${workers(s)}
  select queues.id, queues.queue_name, ${lockHolder("queues")} as locked_by,
    ${microseconds("queues.locked_at")} as locked_at_us,
    ${holder} as holder,
    ${microseconds(stuckSince)} as stuck_since_us
  from ${s}._private_job_queues as queues
  ${join}`;

const isFound = `($1::text = '' or pg_catalog.strpos(pg_catalog.lower(queues.queue_name), pg_catalog.lower($1::text)) > 0)`;
const isLocked = "queues.locked_at is not null";

const rowsSql = (knows: Knows, only: QueueFilter["only"]): Statement => {
  const condition = { locked: `and ${isLocked}`, free: `and not (${isLocked})`, all: "" }[only];
  const order = only === "locked" ? "queues.locked_at, queues.id" : "queues.queue_name";
  return (s) => `${columns(s, knows)}
  where ${isFound} and ($2::text is null or queues.queue_name > $2::text) ${condition}
    and ($4::int[] is null or (queues.id = any ($4::int[])) = $5::bool)
  order by ${order}
  limit $3::int`;
};

const each = (knows: Knows) => ({
  locked: rowsSql(knows, "locked"),
  free: rowsSql(knows, "free"),
  all: rowsSql(knows, "all"),
});
const statements = { heard: each(heard), blind: each(blind) };

const oneSql =
  (knows: Knows): Statement =>
  (s) =>
    `${columns(s, knows)}
  where queues.queue_name = $1::text or queues.id = $2::int
  order by queues.queue_name <> $1::text
  limit 1`;
const oneHeardSql = oneSql(heard);
const oneBlindSql = oneSql(blind);

const heldSql =
  (knows: Knows): Statement =>
  (s) =>
    `${columns(s, knows)}
  where queues.locked_by = $1::text and ${isLocked}
  order by queues.locked_at, queues.id
  limit $2::int`;
const heldHeardSql = heldSql(heard);
const heldBlindSql = heldSql(blind);

const countSql: Statement = (s) => `
  select pg_catalog.count(*)::int as count from ${s}._private_job_queues as queues where ${isFound}`;
