// The row locks of the fast mode do not show which worker has them, and they end only with their transaction. So each
// connection of a worker holds a shared advisory lock under the id of its session. By that lock, a sweep finds the
// transactions of a stale worker, and ends them as PostgreSQL would after a while
// (idle_in_transaction_session_timeout).
//
// The heartbeat has its own thread. So a task that blocks the main thread keeps its jobs as long as the heartbeat
// continues, and the jobs of a frozen process are unlocked when its lease expires.
//
// After the loss of a connection the session itself ends the server process that remains, which may hold row locks, or
// run statements that arrive late.
import { type Database, query, type Statement } from "../../database/database.ts";

const key = (sessionId: string) =>
  `pg_catalog.hashtextextended('worker session ' || ${sessionId}, 0)`;

/** How long to wait for a process to end, in milliseconds. */
const WAIT_MS = 1_000;

const holdSql: Statement = () => `select pg_catalog.pg_advisory_lock_shared(${key("$1::text")})`;

/** Marks this connection, which must not be from a pool, as part of the session until it is closed. */
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
 * Ends the server process `pid` of a lost connection of this session, if it still exists. A server that has not noticed
 * the loss keeps rows locked, even for the session itself, and runs statements that arrive late.
 */
export async function endLostConnection(
  db: Database,
  sessionId: string,
  pid: number,
): Promise<void> {
  await query(db, endLostSql, [sessionId, pid]);
}

// Only idle transactions are ended, because a connection that is running a statement releases its locks itself. This
// role may not end server processes of other roles. PostgreSQL's own timeout ends those.

/**
 * Returns a query that ends the transactions of the sessions in the expression `stale_row`, and waits until their rows
 * are unlocked. It returns one row for each transaction.
 */
export const endTransactions = `
  select pg_catalog.pg_terminate_backend(activity.pid, ${WAIT_MS}) as has_ended
  from stale_row
  join pg_catalog.pg_locks as locks on locks.locktype = 'advisory' and locks.objsubid = 1
    and ((locks.classid::bigint << 32) | locks.objid::bigint) = ${key("stale_row.id")}
  join pg_catalog.pg_stat_activity as activity on activity.pid = locks.pid
  where locks.database = (select oid from pg_catalog.pg_database where datname = pg_catalog.current_database())
  and activity.usename = current_user and activity.state = 'idle in transaction'`;
