// Takes tokens from buckets and gives tokens back, by the generic cell rate algorithm (ITU-T I.371). Of each bucket
// only one time is stored: `tat`, at which the bucket is full again. If `tat` is too late, because the rate was raised
// or the clock was set back, takeTokens() treats the bucket as empty.
//
// No token is taken in advance for a later start, because such starts would be exactly one interval apart. A server
// that enforces the same rate without tolerance would refuse each call that arrives a moment early.
import { type Database, query, type Statement } from "../../database/database.ts";
import type { TokenBucket } from "../../domain/limits/token-bucket.ts";
import { aheadMs, microseconds } from "../sql/moments.ts";
import { announceJobs } from "../sql/notify.ts";

export interface TokenKey {
  readonly limitId: number;
  /** The name of the queue; empty for a limit of tasks. */
  readonly key: string;
}

export interface Tokens {
  readonly count: number;
  /** Milliseconds until the next token; 0: a token is available now. */
  readonly nextMs: number;
  /** Microseconds since the epoch by the database's clock. */
  readonly takenAt: string;
}

/** Takes up to `wanted` tokens; none if the limit does not exist. */
export async function takeTokens(
  db: Database,
  tokenKey: TokenKey,
  bucket: TokenBucket,
  wanted: number,
): Promise<Tokens> {
  const { limitId, key } = tokenKey;
  const { intervalMs, capacity } = bucket;
  const values = [limitId, key, wanted, intervalMs, capacity];
  const [row] = await query<TokenRow>(db, takeSql, values);
  if (row !== undefined) return tokensOf(row);
  return (await addTokenRow(db, tokenKey)) ? takeTokens(db, tokenKey, bucket, wanted) : NO_LIMIT;
}

/** Adds the row of a limit and key, unless the row exists. Returns false if the limit does not exist. */
export async function addTokenRow(db: Database, { limitId, key }: TokenKey): Promise<boolean> {
  return (await query(db, insertSql, [limitId, key])).length > 0;
}

const tokensOf = ({ count, next_ms, now_us }: TokenRow): Tokens => ({
  ...{ count, nextMs: Math.max(0, next_ms), takenAt: now_us },
});

interface TokenRow {
  readonly count: number;
  readonly next_ms: number;
  readonly now_us: string;
}

const NO_LIMIT: Tokens = { count: 0, nextMs: 1_000, takenAt: "0" };

/**
 * Gives unused tokens back if they are younger than `lapseMs`, or than the time in which the rate adds `count` tokens.
 * Later, the bucket may have become full, and a return could let too many jobs start.
 */
export async function returnTokens(
  db: Database,
  { limitId, key }: TokenKey,
  { intervalMs, lapseMs }: Pick<TokenBucket, "intervalMs" | "lapseMs">,
  { count, takenAt }: Pick<Tokens, "count" | "takenAt">,
): Promise<void> {
  const mostMs = Math.max(lapseMs, count * intervalMs);
  await query(db, returnSql, [limitId, key, count, intervalMs, takenAt, mostMs]);
}

/** The unused tokens that a fetch took for one job: one for each rate that applies to the job's queue. */
export interface QueueToken {
  readonly queue: string;
  /** Seconds since the epoch by the database's clock. */
  readonly takenAtSeconds: number;
}

/** Gives back unused tokens, except tokens that are older than the time in which their rate adds one token. */
export async function returnQueueTokens(db: Database, unused: readonly QueueToken[]) {
  const queues = unused.map(({ queue }) => queue);
  const times = unused.map(({ takenAtSeconds }) => takenAtSeconds);
  await query(db, returnOfQueuesSql, [queues, times]);
}

const INTERVAL = "$4::float8 * interval '1 millisecond'";

/* $1 int limit  $2 text key  $3 int wanted  $4 float8 interval, ms  $5 float8 capacity */
const takeSql: Statement = (s) => `
with rate as materialized (
  select tat, least(greatest(tat, pg_catalog.now()), pg_catalog.now() + $5::float8 * ${INTERVAL}) as base
  from ${s}._private_rates where limit_id = $1::int and key = $2::text for update
), room as materialized (
  select tat, base, $5::float8 - ${aheadMs("base")} / $4::float8 as tokens
  from rate
), given as materialized (
  select tat, base, tokens, least($3::int, greatest(0::float8, pg_catalog.floor(tokens + 0.000001::float8))::int) as count from room
), taken as (
  update ${s}._private_rates set tat = given.base + given.count::float8 * ${INTERVAL}
  from given where limit_id = $1::int and key = $2::text and (given.count > 0 or given.tat > given.base)
)
select count, (1::float8 - (tokens - count::float8)) * $4::float8 as next_ms,
  ${microseconds("pg_catalog.now()")}::text as now_us
from given`;

const insertSql: Statement = (s) => `
with made as (
  insert into ${s}._private_rates (limit_id, key, tat)
  select id, $2::text, pg_catalog.now() from ${s}._private_limits where id = $1::int
  on conflict (limit_id, key) do nothing
)
select 1 from ${s}._private_limits where id = $1::int`;

/* $1 int limit  $2 text key  $3 int count  $4 float8 interval, ms  $5 bigint taken at, µs  $6 float8 maximum age, ms */
const returnSql: Statement = (s) => `
update ${s}._private_rates set tat = tat - $3::float8 * ${INTERVAL} where limit_id = $1::int and key = $2::text
  and ${microseconds("pg_catalog.now()")}::float8 < $5::float8 + $6::float8 * 1000::float8`;

/* $1 text[] queues  $2 float8[] taken at, s. Locks the rows in the same order as fetches do, to avoid deadlocks. */
const returnOfQueuesSql: Statement = (s) => `
with unused as materialized (
  select rates.limit_id, rates.key, pg_catalog.sum(limits.period_ms::float8 / limits.rate::float8) as ms
  from rows from (pg_catalog.unnest($1::text[]), pg_catalog.unnest($2::float8[])) as given (key, taken_s)
  join ${s}._private_rates as rates on rates.key = given.key
  join ${s}._private_limits as limits on limits.id = rates.limit_id and limits.scope = 'queue'
  where (pg_catalog.date_part('epoch', pg_catalog.now()) - taken_s) * 1000::float8 < limits.period_ms::float8 / limits.rate::float8
  group by rates.limit_id, rates.key
), locked as materialized (
  select rates.* from unused join ${s}._private_rates as rates using (limit_id, key) order by limit_id, key for update of rates
), returned as (
  update ${s}._private_rates as rates set tat = rates.tat - ms * interval '1 millisecond'
  from locked join unused using (limit_id, key) where rates.limit_id = locked.limit_id and rates.key = locked.key returning 1
)
select ${announceJobs("1")} from returned limit 1`;
