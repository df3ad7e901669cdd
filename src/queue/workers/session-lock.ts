// Jobs that the fast mode has taken are locked by the rows of an open transaction. Nobody sees whose,
// and they are free only when it ends. So each connection of a worker holds an advisory lock, shared,
// under the id of its session: from that anybody finds the transactions of a stale worker, and ends
// them as PostgreSQL would have done after a while (idle_in_transaction_session_timeout).
//
// Of a connection that was lost, the session itself ends what is left at the server: that holds rows, or will
// do what was asked of it and is still on its way.
//
// What a handler that blocks its process has taken is thereby left to it as long as the heartbeat
// goes on, and what a frozen process has taken is free when its lease is over.
import { type Database, query, type Statement } from "../../database/database.ts";

const key = (sessionId: string) =>
  `pg_catalog.hashtextextended('worker session ' || ${sessionId}, 0)`;

/** For a process to end. */
const WAIT_MS = 1_000;

const holdSql: Statement = () => `select pg_catalog.pg_advisory_lock_shared(${key("$1::text")})`;

/** Marks this connection, not one of a pool, as one of the session: until it is closed. */
export async function markConnection(db: Database, sessionId: string): Promise<void> {
  await query(db, holdSql, [sessionId]);
}

const endLostSql: Statement = () => `
  select pg_catalog.pg_terminate_backend(activity.pid, ${WAIT_MS}) as has_ended
  from pg_locks as locks join pg_stat_activity as activity on activity.pid = locks.pid
  where locks.pid = $2::int and locks.locktype = 'advisory' and locks.objsubid = 1
    and ((locks.classid::bigint << 32) | locks.objid::bigint) = ${key("$1::text")}
    and locks.database = (select oid from pg_database where datname = pg_catalog.current_database())
    and activity.usename = current_user`;

/**
 * Ends the server process `pid` of a connection of this session that was lost, if it is still there: a
 * server that has not heard of the loss keeps rows locked, also from the session itself, and does what
 * reaches it late.
 */
export async function endLostConnection(
  db: Database,
  sessionId: string,
  pid: number,
): Promise<void> {
  await query(db, endLostSql, [sessionId, pid]);
}

// Only what waits in a transaction: a connection that is at work holds nothing that it will not let
// go of. Of other roles we may end nothing: what they hold ends by PostgreSQL's own timeout.

/**
 * A query that ends the transactions of the sessions in the expression `stale_row`, and waits until
 * their rows are free. One row each.
 */
export const endTransactions = `
  select pg_catalog.pg_terminate_backend(activity.pid, ${WAIT_MS}) as has_ended
  from stale_row
  join pg_locks as locks on locks.locktype = 'advisory' and locks.objsubid = 1
    and ((locks.classid::bigint << 32) | locks.objid::bigint) = ${key("stale_row.id")}
  join pg_stat_activity as activity on activity.pid = locks.pid
  where locks.database = (select oid from pg_database where datname = pg_catalog.current_database())
  and activity.usename = current_user and activity.state = 'idle in transaction'`;
