// Counts the client sessions of PostgreSQL, and finds what prevents VACUUM from removing dead rows. The texts of the
// sessions' statements are not read, because the texts may contain payloads.
import { type Database, query, type Statement } from "../database.ts";
import { utcText } from "./utc-text.ts";

/** Numbers of client sessions, as in the HTTP API. */
export interface SessionCounts {
  /** The number of client sessions of all databases. */
  readonly total: number;
  /** The setting max_connections of the server. */
  readonly limit: number;
  /** The number of sessions of this database whose state is hidden from this role. */
  readonly hidden: number;
  /** The client sessions of this database, largest group first, at most 20 groups. */
  readonly groups: readonly {
    readonly application: string;
    readonly state: string | null;
    readonly count: number;
  }[];
}

export interface OldTransaction {
  readonly since: string;
  readonly state: string | null;
  readonly application: string;
  readonly role: string | null;
  readonly pid: number;
  readonly waits_for: string | null;
}

export interface OldestXmin {
  readonly kind: "session" | "slot" | "prepared";
  /** The name of the session's application, of the slot, or of the prepared transaction. */
  readonly name: string;
  /** The age of the snapshot or xid, in transactions. */
  readonly transactions: number;
  readonly since: string | null;
}

/**
 * Returns an SQL condition: the session runs VACUUM. Such a session never prevents another VACUUM from removing dead
 * rows. A parallel worker of VACUUM has no row in pg_stat_progress_vacuum, but its leader has one. `session`: the alias
 * of pg_stat_activity.
 */
export const isVacuum = (session: string): string =>
  `exists (select from pg_catalog.pg_stat_progress_vacuum as vacuum
      where vacuum.pid = coalesce(${session}.leader_pid, ${session}.pid))`;

const MAX_GROUPS = 20;

export async function readConnections(db: Database): Promise<SessionCounts> {
  const rows = await query<{
    readonly application: string;
    readonly state: string | null;
    readonly count: number;
    readonly total: number;
    readonly hidden: number;
    readonly limit: number;
  }>(db, connectionsSql, [MAX_GROUPS]);
  const [first] = rows;
  return {
    total: first?.total ?? 0,
    limit: first?.limit ?? 0,
    hidden: first?.hidden ?? 0,
    groups: rows.map(({ application, state, count }) => ({ application, state, count })),
  };
}

// If a session is hidden from this role, its backend_type is null. Such a session counts as a client.
const isClient = "coalesce(backend_type, 'client backend') = 'client backend'";

const connectionsSql: Statement = () => `
  select
    application_name as application,
    state,
    pg_catalog.count(*)::int as count,
    (select pg_catalog.count(*)::int from pg_catalog.pg_stat_activity where ${isClient} and datname is not null) as total,
    (pg_catalog.sum(pg_catalog.count(*) filter (where state is null)) over ())::int as hidden,
    pg_catalog.current_setting('max_connections')::int as limit
  from pg_catalog.pg_stat_activity
  where ${isClient} and datname = pg_catalog.current_database()
  group by application_name, state
  order by pg_catalog.count(*) desc, application_name, state
  limit $1::int`;

/**
 * Returns the oldest transaction of a client of this database; null if there is none. Sessions that are hidden from
 * this role are left out.
 */
export async function readOldestTransaction(db: Database): Promise<OldTransaction | null> {
  const [row] = await query<OldTransaction & Record<string, unknown>>(db, oldestSql);
  return row ?? null;
}

const oldestSql: Statement = () => `
  select
    ${utcText("xact_start")} as since,
    state,
    application_name as application,
    usename::text as role,
    pid,
    wait_event_type || ': ' || wait_event as waits_for
  from pg_catalog.pg_stat_activity as sessions
  where datname = pg_catalog.current_database() and xact_start is not null and pid <> pg_catalog.pg_backend_pid()
  and backend_type = 'client backend' and not ${isVacuum("sessions")}
  order by xact_start
  limit 1`;

/** Returns the session, slot or prepared transaction with the oldest snapshot or xid; null if there is none. */
export async function readOldestXmin(db: Database): Promise<OldestXmin | null> {
  const [row] = await query<OldestXmin & Record<string, unknown>>(db, oldestXminSql);
  return row ?? null;
}

// Slots and walsenders of all databases limit VACUUM in every database. A session that has written rows and is idle in
// its transaction may have an xid and no xmin.
const oldestXminSql: Statement = () => `
  select kind, name, transactions, since from (
    select 'session' as kind, application_name as name, greatest(pg_catalog.age(backend_xmin), pg_catalog.age(backend_xid)) as transactions,
      ${utcText("xact_start")} as since
    from pg_catalog.pg_stat_activity as sessions
    where (backend_xmin is not null or backend_xid is not null) and pid <> pg_catalog.pg_backend_pid()
    and (datname = pg_catalog.current_database() or backend_type = 'walsender') and not ${isVacuum("sessions")}
    union all
    select 'slot', slot_name::text, pg_catalog.age(xmin), null
    from pg_catalog.pg_replication_slots where xmin is not null
    union all
    select 'prepared', gid, pg_catalog.age(transaction), ${utcText("prepared")}
    from pg_catalog.pg_prepared_xacts where database = pg_catalog.current_database()
  ) holder
  order by transactions desc
  limit 1`;
