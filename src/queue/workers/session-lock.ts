// The row locks of the fast mode do not show which worker holds them, and they end only with their transaction. So each
// connection on which a worker fetches jobs holds a shared advisory lock, except behind a transaction pooler. The key
// of the advisory lock is made from the worker's id in `locked_by`, the session id. By this lock, the recovery of a
// stale worker finds the worker's idle transactions, and ends them earlier than PostgreSQL would
// (idle_in_transaction_session_timeout).
//
// Usually the heartbeat has its own thread. Then the worker keeps its jobs while a task blocks the worker's thread. If
// the whole process is frozen, the heartbeat stops as well, and the jobs are unlocked after the lease has expired.
import { type Database, query, type Statement } from "../../database/database.ts";

const key = (sessionId: string) =>
  `pg_catalog.hashtextextended('worker session ' || ${sessionId}, 0)`;

const WAIT_MS = 1_000;

const holdSql: Statement = () => `select pg_catalog.pg_advisory_lock_shared(${key("$1::text")})`;

/** Acquires the session's advisory lock on the connection `db` (not a pool). The lock ends with the connection. */
export async function markConnection(db: Database, sessionId: string): Promise<void> {
  await query(db, holdSql, [sessionId]);
}

const endLostSql: Statement = () => `
  select pg_catalog.pg_terminate_backend(activity.pid, ${WAIT_MS}) as has_ended
  from pg_catalog.pg_locks as locks join pg_catalog.pg_stat_activity as activity on activity.pid = locks.pid
  where locks.pid = $2::int and locks.locktype = 'advisory' and locks.objsubid = 1
    and ((locks.classid::bigint << 32) | locks.objid::bigint) = ${key("$1::text")}
    and locks.database = (select oid from pg_catalog.pg_database where datname = pg_catalog.current_database())
    and activity.usename = current_user`;

/**
 * Ends the server process `pid` of a lost connection of this session. The process could keep rows locked, and could run
 * statements that arrive late. Does nothing if the process does not hold the session's advisory lock: the pid may
 * belong to another process now.
 */
export async function endLostConnection(
  db: Database,
  sessionId: string,
  pid: number,
): Promise<void> {
  await query(db, endLostSql, [sessionId, pid]);
}

// Only idle transactions are ended, because a running statement ends by its own time limit. Server processes of other
// roles are left out, because this role may lack the right to end them.

/**
 * A query about the workers in the common table expression `stale_row`: ends the workers' server processes that are
 * idle in a transaction. Returns one row for each process.
 */
export const endTransactions = `
  select pg_catalog.pg_terminate_backend(activity.pid, ${WAIT_MS}) as has_ended
  from stale_row
  join pg_catalog.pg_locks as locks on locks.locktype = 'advisory' and locks.objsubid = 1
    and ((locks.classid::bigint << 32) | locks.objid::bigint) = ${key("stale_row.id")}
  join pg_catalog.pg_stat_activity as activity on activity.pid = locks.pid
  where locks.database = (select oid from pg_catalog.pg_database where datname = pg_catalog.current_database())
  and activity.usename = current_user and activity.state = 'idle in transaction'`;
