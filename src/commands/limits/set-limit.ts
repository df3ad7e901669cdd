// Sets and removes limits, and creates the limits that a worker's options define. Each change is announced. Workers
// that miss the announcement read the limits within 2 seconds.

import { isDeepStrictEqual } from "node:util";
import { WorkerError } from "../../base/errors.ts";
import { inTransaction } from "../../database/connection/transaction.ts";
import { type Database, query, type Statement } from "../../database/database.ts";
import { LIMIT_TABLES, requireTables } from "../../database/schema/extensions/missing-tables.ts";
import type { LimitDefinition } from "../../domain/limits/limit.ts";
import { shortName } from "../../domain/words.ts";
import { MAX_LIMITS, readLimits, type StoredLimit } from "../../queue/limits/limits.ts";
import { announceControl } from "../../queue/pauses/pause.ts";
import { contendedQuery } from "../../queue/sql/contended-query.ts";
import { announceJobs } from "../../queue/sql/notify.ts";

export interface LimitChange {
  readonly definition: LimitDefinition;
  readonly setBy: string | null;
}

/**
 * Creates the limit, or replaces the limit of the same name. Returns false if an equal limit existed already. Throws
 * `extension_missing`, and `conflict` if there are too many limits, or if a limit of the other scope has the name.
 */
export async function setLimit(db: Database, { definition, setBy }: LimitChange): Promise<boolean> {
  await requireTables(db, LIMIT_TABLES);
  const { name, scope, match, concurrency, rate } = definition;
  const [row] = await contendedQuery<SetRow>(db, setSql, [
    ...[name, scope, match, concurrency, rate?.limit ?? null, rate?.perMs ?? null],
    ...[rate?.burst ?? null, setBy],
  ]);
  if (row?.is_missed === true) {
    if (row.is_full) throw tooMany();
    return setLimit(db, { definition, setBy });
  }
  if (row?.is_other === true) {
    const other = scope === "task" ? "queues" : "tasks";
    const sentence = `the limit ${shortName(name)} is for ${other}; remove it first, or use another name`;
    throw new WorkerError("conflict", sentence);
  }
  return row?.is_changed === true;
}

interface SetRow {
  /** No limit was found or created: there are too many, or another session has just created the limit. */
  readonly is_missed: boolean;
  readonly is_full: boolean;
  readonly is_other: boolean;
  readonly is_changed: boolean;
}

/**
 * Creates each `wanted` limit, unless a limit of the same name exists. Returns the limits that exist with another
 * definition. Throws `extension_missing`, and `conflict` if there are too many limits.
 */
export async function createLimits(
  db: Database,
  wanted: readonly LimitDefinition[],
): Promise<readonly LimitDifference[]> {
  await requireTables(db, LIMIT_TABLES, "the option limits");
  // If no limit is missing, nothing is written, because the worker's role may lack the privilege to create limits.
  if (missingIn(await readLimits(db), wanted).length > 0) {
    await inTransaction(db, async (inside) => {
      for (const { name, scope, match, concurrency, rate } of missingIn(
        await readLimits(inside),
        wanted,
      )) {
        await query(inside, createSql, [
          ...[name, scope, match, concurrency, rate?.limit ?? null, rate?.perMs ?? null],
          rate?.burst ?? null,
        ]);
      }
    });
  }
  const stored = await readLimits(db);
  if (missingIn(stored, wanted).length > 0) throw tooMany();
  return wanted.flatMap((definition) => {
    const found = stored.find((one) => one.definition.name === definition.name);
    const isEqual = found === undefined || isDeepStrictEqual(found.definition, definition);
    return isEqual ? [] : [{ wanted: definition, stored: found.definition }];
  });
}

/** A limit in a worker's options, and the different stored limit of the same name. */
export interface LimitDifference {
  readonly wanted: LimitDefinition;
  readonly stored: LimitDefinition;
}

const missingIn = (stored: readonly StoredLimit[], wanted: readonly LimitDefinition[]) =>
  wanted.filter(({ name }) => !stored.some(({ definition }) => definition.name === name));

const tooMany = () =>
  new WorkerError("conflict", `there are ${MAX_LIMITS} limits, which is the maximum; remove some`);

/** Removes a limit. Returns false if there was none. Throws `extension_missing`. */
export async function removeLimit(db: Database, name: string): Promise<boolean> {
  await requireTables(db, LIMIT_TABLES);
  return (await contendedQuery(db, removeSql, [name])).length > 0;
}

const NEWS = `${announceControl("all")}, ${announceJobs("1")}`;

const EMPTY = `pg_catalog.now()
    + $7::int::float8 * $6::bigint::float8 / $5::int::float8 * interval '1 millisecond'`;

/**
 * Whether some workers may run jobs without permits until they have read that the definition `excluded` replaces `l`.
 * If so, the stored revision is negative (see `most` in queue/limits/permits.ts). The last line is necessary because
 * some workers may not have read `l` yet if `l` is less than 2.5 s old.
 */
const IS_NEW = `l.match <> excluded.match or l.concurrency is null
      or l.revision < 2 and l.set_at > pg_catalog.now() - interval '2.5 seconds'`;

/*
 * $1 name  $2 scope  $3 match  $4 concurrency  $5 rate  $6 period  $7 burst  $8 set by
 *
 * `tat` is the time at which all tokens of a rate will be available again. EMPTY is approximately this time if no token
 * is left under the new rate. If the old rate was slow, a `tat` may be later than EMPTY, and is set to EMPTY. `behind`
 * locks rows in the order in which fetches lock them, so that no deadlock is possible.
 */
const setSql: Statement = (s) => `
with old as materialized (
  select * from ${s}._private_limits where name = $1::text
), stored as (
  insert into ${s}._private_limits as l
    (name, scope, match, concurrency, rate, period_ms, burst, source, set_by)
  select $1::text, $2::text, $3::text, $4::int, $5::int, $6::bigint, $7::int, 'user', $8::text
  where exists (select from old) or (select pg_catalog.count(*) from ${s}._private_limits) < ${MAX_LIMITS}
  on conflict (name) do update set
    match = excluded.match, concurrency = excluded.concurrency, rate = excluded.rate,
    period_ms = excluded.period_ms, burst = excluded.burst, source = excluded.source,
    set_by = excluded.set_by, set_at = pg_catalog.now(),
    revision = (pg_catalog.abs(l.revision) + 1) * case when ${IS_NEW} then -1 else 1 end
  where l.scope = excluded.scope
    and (l.match, l.concurrency, l.rate, l.period_ms, l.burst)
      is distinct from (excluded.match, excluded.concurrency, excluded.rate, excluded.period_ms, excluded.burst)
  returning ${NEWS}
), behind as materialized (
  select rates.limit_id, rates.key from ${s}._private_rates as rates
  where rates.limit_id in (select id from old where scope = $2::text) and rates.tat > ${EMPTY}
  order by rates.limit_id, rates.key for update
), emptied as (
  update ${s}._private_rates as rates set tat = ${EMPTY}
  from behind where rates.limit_id = behind.limit_id and rates.key = behind.key
)
select exists (select from stored) as is_changed,
  exists (select from old where scope <> $2::text) as is_other,
  not exists (select from old) and not exists (select from stored) as is_missed,
  (select pg_catalog.count(*) from ${s}._private_limits) >= ${MAX_LIMITS} as is_full`;

const createSql: Statement = (s) => `
insert into ${s}._private_limits (name, scope, match, concurrency, rate, period_ms, burst, source)
select $1::text, $2::text, $3::text, $4::int, $5::int, $6::bigint, $7::int, 'code'
where (select pg_catalog.count(*) from ${s}._private_limits) < ${MAX_LIMITS}
on conflict (name) do nothing
returning ${NEWS}`;

// A later limit with this name must not inherit the back-off of the removed limit.
const removeSql: Statement = (s) => `
with deleted as (
  delete from ${s}._private_limits where name = $1::text returning name, ${NEWS}
), ended as (
  update ${s}._private_back_offs set until = pg_catalog.now()
  where scope = 'limit' and name in (select name from deleted) and until > pg_catalog.now()
)
select 1 from deleted`;
