// Builds the statement that is one batch of an operation. The statement finds matching jobs, locks them, checks them
// again under the lock, stores their earlier state, changes them, and records the operation's progress. Either all of
// this happens or nothing, so a killed process leaves no job half done.

import type { JobQuery } from "../../../insight/query/job-query.ts";
import { announceJobs } from "../../../queue/sql/notify.ts";
import {
  type AddParameter,
  changeStatement,
  isDeletion,
  type JobChange,
  parameters,
  storedColumnsOf,
  storeRows,
} from "../../before-images/job-change.ts";
import { MAX_ROWS } from "../model/operation.ts";
import type { BatchSelection, Stretch } from "../model/operation-store.ts";
import { isSince } from "./missed.ts";

/**
 * The operation of a batch, its owner, and values for the operation's row. A batch changes jobs only if the operation
 * has this owner, is running or being undone, and has processed the jobs exactly up to `afterId`.
 */
export interface Claim {
  readonly operationId: string;
  readonly owner: string;
  readonly leaseS: number;
  readonly ratePerS: number | null;
  readonly etaS: number | null;
}

export interface BuiltStatement {
  readonly text: string;
  readonly values: readonly unknown[];
}

/** Returns the statement. It skips rows that another session has locked, so a batch never waits for a worker. */
export function batchStatement(
  s: string,
  query: JobQuery,
  change: JobChange,
  stretch: Stretch,
  claim: Claim,
): BuiltStatement {
  const { values, parameter } = parameters();
  const after = parameter(stretch.afterId, "bigint");
  const upto = parameter(stretch.uptoId, "bigint");
  const before = parameter(stretch.before, "timestamptz");
  const openSince = parameter(stretch.openSince, "timestamptz[]");
  const limit = parameter(stretch.limit, "int");
  const mine = mineOf(s, claim, after, parameter);
  const acted = actedOf(s, change, parameter);
  const running = change.ofRunning?.(s, RUNNING, parameter);
  const rest = recordParts(s, claim, change, { limit, upto, parameter });
  const selection = stretch.selection === null ? null : selectionOf(stretch.selection, parameter);
  const matches = query.sql(values.length + 1);
  values.push(...query.values);
  const row = selection === null ? "jobs" : "chosen";
  // The action stop-retrying (`mayRun`) must also change jobs that crash their workers. Such a job is always locked or
  // has just changed. So this action includes locked and changed jobs, and leaves out jobs that were added since
  // the rehearsal.
  const mayRun = change.mayRun === true;
  const isSkipped = isSince(mayRun ? "jobs.created_at" : "jobs.updated_at", before, openSince);
  const isLocked = mayRun ? "false" : "jobs.locked_at is not null";
  const isUnlocked = mayRun ? "true" : "jobs.locked_at is null";
  const isChanged = `${isUnlocked} and coalesce(${isSkipped}, false)`;
  const isFree = `${isUnlocked} and not ${isSkipped}`;
  const isHere = `${row}.id > ${after} and ${row}.id <= ${upto}`;
  // This process has already checked the payloads and errors of a selection. A job whose row has changed since this
  // check is still in `found`, but is not locked below, because its ctid has changed.
  const candidates =
    selection === null
      ? `from ${s}._private_jobs as jobs
    where ${isHere} and ${matches}`
      : `from chosen
    left join ${s}._private_jobs as jobs
      on jobs.id = chosen.id and jobs.ctid = chosen.ctid and ${matches}
    where ${isHere}`;
  const text = `
  with ${mine}, ${selection === null ? "" : `${selection}, `}found as materialized (
    select ${row}.id, ${row}.ctid, ${isLocked} as is_locked,
      ${isChanged} as is_changed
    ${candidates}
    and exists (select from mine)
    order by ${row}.id
    limit ${limit}
  ), locked_jobs as materialized (
    select jobs.id, ${isDeletion(change) ? "jobs.ctid" : storedColumnsOf(change, "jobs").join(", ")}
    from found
    join ${s}._private_jobs as jobs on jobs.ctid = found.ctid and jobs.id = found.id
    where not found.is_locked and not found.is_changed
    and ${isFree}
    and ${matches}
    order by jobs.id
    for update of jobs skip locked
  ), acted as (
    ${acted}
  ), ${running === undefined ? "" : `${missed(s)}, ${running}, `}announced as materialized (
    select ${announceJobs("pg_catalog.count(*)")} from acted having pg_catalog.count(*) > 0 and ${change.wakes === true}
  )${rest}`;
  return { text, values };
}

/**
 * The jobs that were found unlocked but could not be changed, and their present `locked_at`. Rows that another session
 * has locked are left out, so that RUNNING includes their jobs: they may be running jobs of the fast mode.
 */
const missed = (s: string): string => `missed as materialized (
    select jobs.id, jobs.locked_at
    from ${s}._private_jobs as jobs
    where jobs.id in (
      select id from found where not is_locked and not is_changed and id not in (select acted.id from acted))
    order by jobs.id
    for update of jobs skip locked
  )`;

/**
 * The ids of found jobs that may be fetched or running. Jobs that were found unlocked, could not be changed, and are
 * unlocked now are left out: they may no longer match the query.
 */
const RUNNING = `select found.id from found where not found.is_changed
      and found.id not in (select acted.id from acted)
      and found.id not in (select missed.id from missed where missed.locked_at is null)`;

/** Locks the operation's row, so that a pause or a stop of the operation waits until the batch commits. */
function mineOf(s: string, claim: Claim, after: string, parameter: AddParameter): string {
  return `mine as materialized (
    select kept from ${s}._private_operations
    where id = ${parameter(claim.operationId, "bigint")} and owner = ${parameter(claim.owner, "text")}
    and state = 'running' and after_id = ${after}
    for update
  )`;
}

const selectionOf = ({ ids, ctids }: BatchSelection, parameter: AddParameter): string =>
  `chosen as materialized (
    select id, ctid
    from unnest(${parameter(ids, "bigint[]")}, ${parameter(ctids, "tid[]")}) as row (id, ctid)
  )`;

/**
 * Changes or deletes the jobs in `locked_jobs`. A deletion finds the rows by ctid. The index on ids has dead entries of
 * the jobs that earlier batches have deleted, and reading these entries would take a third of a batch's time.
 */
function actedOf(s: string, change: JobChange, parameter: AddParameter): string {
  const head = changeStatement(s, change, parameter);
  return isDeletion(change)
    ? `${head}
    using locked_jobs
    where jobs.ctid = locked_jobs.ctid and jobs.id = locked_jobs.id
    returning jobs.id, ${storedColumnsOf(change, "jobs").join(", ")}`
    : `${head}
    where jobs.id = any(array(select locked_jobs.id from locked_jobs))
    returning jobs.id, jobs.updated_at, jobs.attempts`;
}

interface Places {
  readonly limit: string;
  readonly upto: string;
  readonly parameter: AddParameter;
}

function recordParts(
  s: string,
  claim: Claim,
  change: JobChange,
  { limit, upto, parameter }: Places,
): string {
  const operation = parameter(claim.operationId, "bigint");
  const outcome =
    "case when acted.id is not null then 'd' when targets.is_changed then 'c' else 'l' end";
  const rows = storeRows(s, change, {
    operation,
    outcome,
    targets: "found",
    images: "locked_jobs",
  });
  return `, kept as (
    ${rows}
    where (select kept from mine) < ${MAX_ROWS}
    returning 1
  ), tally as materialized (
    select
      (select pg_catalog.count(*) from found) as found,
      (select pg_catalog.max(id) from found) as last_id,
      (select pg_catalog.count(*) from found where is_changed) as changed,
      (select pg_catalog.count(*) from acted) as done,
      (select pg_catalog.count(*) from kept) as kept
  ), moved as (
    update ${s}._private_operations as operation
    set
      after_id = case when tally.found < ${limit} then ${upto} else tally.last_id end,
      done = operation.done + tally.done,
      skipped_changed = operation.skipped_changed + tally.changed,
      skipped_locked = operation.skipped_locked + tally.found - tally.changed - tally.done,
      kept = operation.kept + tally.kept,
      lease_until = pg_catalog.clock_timestamp() + pg_catalog.make_interval(secs => ${parameter(claim.leaseS, "int")}),
      rate_per_s = ${parameter(claim.ratePerS, "int")},
      eta_s = ${parameter(claim.etaS, "int")}
    from tally, mine
    where operation.id = ${operation}
    returning operation.after_id
  )
  select tally.found::int, tally.changed::int, tally.done::int, moved.after_id, ${MISSED},
    (select pg_catalog.count(*) from announced)::int as announced
  from tally left join moved on true`;
}

/** The ids of jobs that the batch tried to change but could not change (missed.ts). */
const MISSED = `array(
      select id from found
      where not is_locked and not is_changed and id not in (select id from acted)
    ) as missed_ids`;
