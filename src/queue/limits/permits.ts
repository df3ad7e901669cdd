// A permit is the right of a worker to run one job under a limit of tasks. After a limit was lowered, workers may have
// more permits than it allows, because a permit in use is not taken away.
//  1. While a worker is short of permits (has fewer than it wants) or has to return some, it exchanges permits every
//     0.5 s, or sooner when permits get free.
//  2. An exchange is two statements, sent together if the connection allows it. The first locks the limit's row. The
//     second reads the other workers' permits, with a snapshot that is taken after the wait for that lock. With an
//     older snapshot, it would grant permits that another worker has just taken.
//  3. A worker keeps its permits, and gets as many free permits as it wants. There are two exceptions. A worker that
//     wants no permits returns its permits when another worker is short of permits. When another worker has been short
//     for half a second, or the workers have more permits than the limit allows, each worker gets at most an equal
//     share, and returns permits beyond the share as its jobs end. If there are fewer permits than workers that want
//     some, these workers take turns. Without turns, a task that only some of these workers have might never run.
//  4. The permits of a stale worker are deleted when its jobs are recovered. If one of the jobs stays locked, the
//     permits are deleted by a later sweep, or together with the worker's row.
import { queryAfter } from "../../database/connection/transaction.ts";
import { type Database, query, type Statement } from "../../database/database.ts";

export interface Permits {
  /** How many jobs the worker may run at once; null: the limit was removed, or no longer limits the concurrency. */
  readonly permits: number | null;
  /** The number of permits that the worker may keep when its jobs end; at most `permits`. */
  readonly share: number;
  /** Whether any other worker is short of permits. */
  readonly othersAreShort: boolean;
}

export interface PermitExchange {
  readonly limitId: number;
  readonly workerId: string;
  /** The number of the worker's running jobs under the limit. */
  readonly inUse: number;
  /** How many jobs the worker could run at once under the limit now, including those that already run. */
  readonly wanted: number;
  /** Greater than the number of the worker's previous exchange. */
  readonly number: number;
}

export const PERMITS = "worker:permits";

/** Parses the payload of an announcement: a limit's id, and `free` or `wanted`, such as `12 free`. */
export function announcedPermits(payload: string): {
  readonly limitId: number;
  readonly areFree: boolean;
} {
  const [id, word] = payload.split(" ");
  return { limitId: Number(id), areFree: word === "free" };
}

/**
 * Reports how many jobs the worker runs and wants to run, and returns how many it may run. `db` must be on a pool.
 * Throws if the worker has no heartbeat row, or if a later exchange of the worker was executed first: an exchange that
 * was delayed on a lost connection must not undo a later exchange.
 */
export async function exchangePermits(
  db: Database,
  { limitId, workerId, inUse, wanted, number }: PermitExchange,
): Promise<Permits> {
  const values = [limitId, workerId, inUse, wanted, number];
  const [row] = await queryAfter<ExchangeRow>(db, lockSql(limitId), exchangeSql, values);
  if (row?.concurrency == null) return { permits: null, share: 0, othersAreShort: false };
  if (row.permits === null) throw new Error("a later exchange of permits was executed first");
  return { permits: row.permits, share: row.share, othersAreShort: row.others_are_short };
}

/**
 * Gives back a worker's permits under a limit that no longer applies to any of its tasks. The row of these permits
 * stays, with the number of the worker's last exchange, so that a delayed exchange changes nothing.
 */
export async function returnPermits(
  db: Database,
  { limitId, workerId, number }: Pick<PermitExchange, "limitId" | "workerId" | "number">,
): Promise<void> {
  await query(db, returnSql, [limitId, workerId, number]);
}

export const shortLimits = async (db: Database): Promise<number[]> =>
  (await query<{ limit_id: number }>(db, shortSql)).map(({ limit_id }) => limit_id);

export async function releasePermits(db: Database, workerId: string): Promise<void> {
  await query(db, releaseSql, [workerId]);
}

interface ExchangeRow {
  readonly concurrency: number | null;
  /** null: `concurrency` is null, or a later exchange was executed first. */
  readonly permits: number | null;
  readonly share: number;
  readonly others_are_short: boolean;
}

const lockSql = (limitId: number) => (s: string) =>
  `
with locked as materialized (select id from ${s}._private_limits where id = ${limitId} for update)
select from locked where id < 0`;

const announceSql = (limitId: string, word: "free" | "wanted") =>
  `pg_catalog.pg_notify('${PERMITS}', ${limitId}::text || ' ${word}'::text)`;

/** The seconds after which the turns of the workers change (point 3). */
const TURN_S = 5;

/*
 * $1 int limit  $2 text worker  $3 int in use  $4 int wanted  $5 bigint number
 * `most`: how many permits the limit allows; null if it does not limit the concurrency. If the revision is 1 or
 * negative (IS_NEW in set-limit.ts), some workers may not apply the limit's definition yet, and may run jobs without
 * permits. So for at most 2.5 s, `most` is 0 while there is another worker that was started before the limit was last
 * set. If the revision is 1, workers that have exchanged permits under the limit apply it, and do not count. `held`:
 * the other workers' permits. If a worker has more running jobs than permits, its running jobs count instead, because
 * jobs that started before the limit have no permits. `kept`: the worker's permits before this exchange.
 */
const exchangeSql: Statement = (s) => `
with present as materialized (
  select case when concurrency is null or revision > 1 or not pg_catalog.now() between set_at and set_at + interval '2.5 seconds'
    or not exists (select from ${s}._private_workers as workers where workers.started_at < set_at and workers.id <> $2::text and (revision < 0
      or not exists (select from ${s}._private_limit_permits where limit_id = $1::int and worker_id = workers.id)))
    then concurrency else 0 end as most from ${s}._private_limits where id = $1::int
), own as materialized (
  select permits from ${s}._private_limit_permits where limit_id = $1::int and worker_id = $2::text
), others as materialized (
  select least(coalesce(pg_catalog.sum(greatest(permits, in_use)), 0), 1000000000::bigint)::int as held,
    pg_catalog.count(*) filter (where wanted > 0)::int as claimants,
    pg_catalog.count(*) filter (where wanted > 0 and worker_id < $2::text)::int as before,
    coalesce(pg_catalog.bool_or(wanted > permits), false) as are_short,
    coalesce(pg_catalog.bool_or(wanted > permits
      and short_since < pg_catalog.now() - interval '0.5 seconds'), false) as are_long_short
  from ${s}._private_limit_permits where limit_id = $1::int and worker_id <> $2::text
), claim as (
  select others.*, most, coalesce(own.permits, 0) as kept,
    case when $4::int = 0 then 0
      when are_long_short or held + coalesce(own.permits, 0) > most then least($4::int, most / (claimants + 1)
        + case when (before + turn) % (claimants + 1) < most % (claimants + 1) then 1 else 0 end)
      else greatest($4::int, coalesce(own.permits, 0)) end as target
  from present cross join others left join own on true, lateral (
    select case when claimants < most then 0
      else (pg_catalog.date_part('epoch', pg_catalog.now()) / ${TURN_S}::float8)::int end as turn) as turns
), part as (
  select *, greatest(least($3::int, kept),
      least(case when $4::int = 0 and not are_short then kept else target end, most - held), 0) as permits
  from claim where most is not null
), stored as (
  insert into ${s}._private_limit_permits as p (limit_id, worker_id, permits, in_use, wanted, short_since, exchange)
  select $1::int, $2::text, permits, $3::int, $4::int, case when $4::int > permits then pg_catalog.now() end, $5::bigint
  from part
  on conflict (limit_id, worker_id) do update set
    permits = excluded.permits, in_use = excluded.in_use, wanted = excluded.wanted,
    exchange = excluded.exchange,
    short_since = case when excluded.short_since is not null then least(p.short_since, excluded.short_since) end
  where p.exchange < excluded.exchange
  returning permits
)
select present.most as concurrency, stored.permits, case when $4::int = 0 and not part.are_short then stored.permits
    else least(stored.permits, part.target) end as share, part.are_short as others_are_short,
  case when part.are_short and stored.permits < part.kept then ${announceSql("$1::int", "free")}
    when stored.permits < $4::int and part.held > 0 then ${announceSql("$1::int", "wanted")} end
from present left join part on true left join stored on true`;

const returnSql: Statement = (s) => `
with returned as (
  update ${s}._private_limit_permits set permits = 0, in_use = 0, wanted = 0, short_since = null, exchange = $3::bigint
  where limit_id = $1::int and worker_id = $2::text and exchange <= $3::bigint returning limit_id
)
select ${announceSql("limit_id", "free")} from returned where exists (
  select from ${s}._private_limit_permits where limit_id = $1::int and wanted > permits)`;

const shortSql: Statement = (s) =>
  `select distinct limit_id from ${s}._private_limit_permits where wanted > permits`;

const releaseSql: Statement = (s) => `
with released as (delete from ${s}._private_limit_permits where worker_id = $1::text returning limit_id)
select ${announceSql("limit_id", "free")} from released`;
