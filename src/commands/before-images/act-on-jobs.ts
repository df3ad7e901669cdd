// Changes or deletes jobs by id. With an ActionRecord, the earlier state of the jobs is stored for an undo.

import { monotonic, wait } from "../../base/clock.ts";
import { codeOf } from "../../base/errors.ts";
import { withSavepoint } from "../../database/connection/transaction.ts";
import { type Database, query, type Statement } from "../../database/database.ts";
import { hasWorkerTable } from "../../database/schema/extensions/has-extension.ts";
import type { Job } from "../../domain/job.ts";
import { checkedJobIds } from "../../domain/job-ids.ts";
import { isUnreported } from "../../insight/expressions/condition.ts";
import { contendedQuery } from "../../queue/sql/contended-query.ts";
import { type JobRow, jobColumns, jobNames, toJob } from "../../queue/sql/job-row.ts";
import { isFree } from "../../queue/sql/lock.ts";
import type { Origin } from "../audit/audit-entry.ts";
import {
  changeStatement,
  isDeletion,
  type JobChange,
  parameters,
  storedColumnsOf,
} from "./job-change.ts";
import {
  type ActionRecord,
  type OperationIdRow,
  recordedStatement,
  recordValues,
} from "./recorded-statement.ts";

/** The result of a change of jobs. */
export interface ChangeResult {
  /** The changed jobs, ascending by id. */
  readonly jobs: Job[];
  /** The id of the operation that stores the jobs' earlier state; null if no state was stored. */
  readonly operationId: string | null;
}

/**
 * Returns the record with which actOnJobs() stores the earlier state. If `recordFor` is undefined, returns null, and
 * the state is not stored.
 */
export function actionRecordOf(
  recordFor: Origin | undefined,
  action: string,
  changes: Readonly<Record<string, unknown>> = {},
): ActionRecord | null {
  return recordFor === undefined ? null : { origin: recordFor, action, changes };
}

/**
 * Like actOnJobs(), but first waits until none of the jobs is fetched, at most a second. A deletion, or a change that
 * also acts on running jobs, does not wait.
 */
export async function actOnJobsInTurn(
  db: Database,
  change: JobChange,
  ids: readonly string[],
  record: ActionRecord | null,
): Promise<ChangeResult> {
  await untilMayChange(db, change, ids);
  return actOnJobs(db, change, ids, record);
}

export async function untilMayChange(
  db: Database,
  change: JobChange,
  ids: readonly string[],
): Promise<void> {
  if (mustWait(change)) await untilNotFetched(db, { ids: checkedJobIds(ids) });
}

const mustWait = (change: JobChange): boolean =>
  !isDeletion(change) && change.mayRun !== true && change.ofRunning === undefined;

/**
 * Makes the change in the jobs with these ids. Unless `change.mayRun` is true, the change leaves out jobs that
 * were locked less than 4 hours ago. Throws InputError if `ids` is invalid, empty or longer than 10,000.
 */
export async function actOnJobs(
  db: Database,
  change: JobChange,
  ids: readonly string[],
  record: ActionRecord | null,
): Promise<ChangeResult> {
  const { values, parameter } = parameters();
  parameter(checkedJobIds(ids), "bigint[]");
  const head = changeStatement(db.schema.quoted, change, parameter);
  const changed: ChangeStatement = (of) => `${head}
    where jobs.id = any(${of})${change.mayRun === true ? "" : ` and ${isFree}`}
    returning jobs.*`;
  const ofRunning = (ids: string) => {
    const tables = change.ofRunning?.(db.schema.quoted, ids, parameter);
    return tables === undefined ? "" : `, ${tables}`;
  };
  const send = change.ofRunning === undefined ? actingQuery : actingQueryAtOnce;
  if (record === null) {
    const running = ofRunning(RUNNING_OF_PLAIN(db.schema.quoted));
    const rows = await send<JobRow>(db, (s, of) => plainStatement(s, changed(of), running), values);
    return { jobs: rows.map(toJob), operationId: null };
  }
  const running = ofRunning("select targets.id from targets where targets.outcome = 'l'");
  const first = values.length + 1;
  const rows = await send<JobRow & OperationIdRow>(
    db,
    (s, of) => recordedStatement(s, change, `${tablesOf(s, change, of, changed)}${running}`, first),
    [...values, ...recordValues(record)],
  );
  return { jobs: rows.map(toJob), operationId: rows[0]?.operation_id ?? null };
}

/** Returns the statement that makes the change. `ids`: an SQL array. */
type ChangeStatement = (ids: string) => string;

const RUNNING_OF_PLAIN = (s: string) =>
  `select requested.id from ${s}._private_jobs as requested where requested.id = any($1::bigint[]) and requested.id not in (select jobs.id from jobs)`;

const plainStatement = (s: string, changed: string, more: string) => `
  with jobs as (
    ${changed}
  )${more}
  select ${jobColumns}
  from jobs
  ${jobNames(s)}
  order by jobs.id`;

/** The rows are locked before they are read, so that the stored state is the state just before the change. */
const tablesOf = (
  s: string,
  change: JobChange,
  ids: string,
  changed: ChangeStatement,
): string => `images as materialized (
    select ${["jobs.id", ...(isDeletion(change) ? [] : storedColumnsOf(change, "jobs"))].join(", ")}
    from ${s}._private_jobs as jobs
    where jobs.id = any(${ids})
    order by jobs.id
    for update
  ), acted as (
    ${changed("array(select images.id from images)")}
  ), targets as materialized (
    select requested.id,
      case when acted.id is not null then 'd' when jobs.id is not null then 'l' else 'g' end as outcome
    from pg_catalog.unnest($1::bigint[]) as requested (id)
    left join acted on acted.id = requested.id
    left join ${s}._private_jobs as jobs on jobs.id = requested.id
  )`;

/** `ids`: an SQL array. */
type ActingStatement = (schema: string, ids: string) => string;

const LOCK_NOT_AVAILABLE = "55P03";

/**
 * Sends a statement that acts on jobs. The first of `values` is the list of the jobs' ids. The statement waits for rows
 * that another transaction has locked, for example a transaction of the fast mode. If lock_timeout ends this wait, the
 * statement is sent again without the jobs whose rows are still locked.
 */
async function actingQuery<R extends object>(
  db: Database,
  statement: ActingStatement,
  values: unknown[],
): Promise<R[]> {
  const send = () => contendedQuery<R>(db, (schema) => statement(schema, GIVEN), values);
  try {
    return await withSavepoint(db, send);
  } catch (error) {
    if (codeOf((error as Error).cause) !== LOCK_NOT_AVAILABLE) throw error;
    // If this query fails, too, the first error is clearer.
    return query<R>(db, (schema) => statement(schema, freeOf(schema)), values).catch(() => {
      throw error;
    });
  }
}

/** Like actingQuery(), but skips the jobs whose rows another transaction has locked. */
const actingQueryAtOnce = <R extends object>(
  db: Database,
  statement: ActingStatement,
  values: unknown[],
): Promise<R[]> => contendedQuery<R>(db, (schema) => statement(schema, freeOf(schema)), values);

const GIVEN = "$1::bigint[]";

const freeOf = (schema: string) => `array(
    select free.id from ${schema}._private_jobs as free
    where free.id = any(${GIVEN})
    for update skip locked
  )`;

/** Selects jobs by id or by key. */
export type JobSelector = { readonly ids: readonly string[] } | { readonly key: string };

const MAX_WAIT_MS = 1_000;
const STEP_MS = 40;

const lockedSql: Statement = (s) => `
  select j.id::text from ${s}._private_jobs j
  where (j.id = any($1::bigint[]) or j.key = $2::text) and j.locked_at is not null`;

const fetchedSql: Statement = (s) => `
  select j.id::text from ${s}._private_jobs j
  join ${s}._private_workers workers on workers.id = j.locked_by
  where j.id = any($1::bigint[]) and j.locked_at is not null and ${isUnreported("j")}`;

/**
 * Waits until none of these jobs is fetched, at most a second. Without this wait, an action would treat a fetched job
 * like a running job.
 */
export async function untilNotFetched(db: Database, wanted: JobSelector): Promise<void> {
  const values = "ids" in wanted ? [wanted.ids, null] : ["{}", wanted.key];
  let ids = idsOf(await query<Row>(db, lockedSql, values));
  if (ids.length === 0 || !(await hasWorkerTable(db))) return;
  const endsAtMs = monotonic() + MAX_WAIT_MS;
  for (;;) {
    ids = idsOf(await query<Row>(db, fetchedSql, [ids]));
    if (ids.length === 0 || monotonic() >= endsAtMs) return;
    await wait(STEP_MS, NEVER);
  }
}

interface Row {
  readonly id: string;
}

const idsOf = (rows: readonly Row[]) => rows.map(({ id }) => id);
const NEVER = new AbortController().signal;
