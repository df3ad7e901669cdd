// Waits for the end of all open transactions that may still use a row whose deletion was committed before the call.
// CREATE INDEX CONCURRENTLY waits in a similar way. This file also detects an open transaction of the caller.
import { monotonic, wait } from "../../base/clock.ts";
import { WorkerError } from "../../base/errors.ts";
import { backoffDelay } from "../../base/retry.ts";
import { type Database, query, type Statement } from "../database.ts";
import { isVacuum } from "./sessions.ts";

const NEVER = new AbortController().signal;

/**
 * Waits until the transactions of this database that have an xid or a snapshot at the call have ended. Resolves to
 * false if one of them is still open after `withinMs`. The connection of `db` must not be in a transaction.
 */
export async function openTransactionsEnd(db: Database, withinMs: number): Promise<boolean> {
  const until = monotonic() + withinMs;
  let open = await stillOpen(db, null);
  for (let attempt = 0; open.length > 0; attempt++) {
    if (monotonic() >= until) return false;
    await wait(backoffDelay(attempt, { firstMs: 2, longestMs: 100 }), NEVER);
    open = await stillOpen(db, open);
  }
  return true;
}

async function stillOpen(db: Database, among: readonly string[] | null): Promise<string[]> {
  const rows = await query<{ transaction: string }>(db, openSql, [among]);
  return rows.map(({ transaction }) => transaction);
}

// A transaction that only reads also counts while it has a snapshot, because its next statement may write based on what
// it has read. A vacuum may have a snapshot for hours, but does not count, because it writes no row that refers to
// another row.
const openSql: Statement = () => `
  select open.transaction from (
    select locks.virtualtransaction as transaction
    from pg_catalog.pg_locks as locks
    join pg_catalog.pg_stat_activity as sessions on sessions.pid = locks.pid
    where locks.locktype = 'virtualxid' and locks.mode = 'ExclusiveLock' and locks.granted
    and sessions.datname = pg_catalog.current_database() and sessions.pid <> pg_catalog.pg_backend_pid()
    and (sessions.backend_xid is not null or sessions.backend_xmin is not null)
    and not ${isVacuum("sessions")}
    union all
    select 'prepared ' || gid from pg_catalog.pg_prepared_xacts where database = pg_catalog.current_database()
  ) as open
  where $1::text[] is null or open.transaction = any($1::text[])`;

const transactionSql: Statement = () => "select pg_catalog.pg_current_xact_id()::text as id";

/**
 * Throws WorkerError (`configuration`) if the caller has an open transaction on `db`. `what`: names the refused call in
 * the message.
 */
export async function assertNoTransaction(db: Database, what: string): Promise<void> {
  const [first] = await query<{ id: string }>(db, transactionSql);
  const [second] = await query<{ id: string }>(db, transactionSql);
  if (first?.id !== second?.id) return;
  const message = `${what} cannot run inside a transaction: call it on a pool, or on a client after its commit`;
  throw new WorkerError("configuration", message);
}
