// The statement of an action on jobs selected by id or key. If jobs are changed, the statement also stores a finished
// operation, so that the action has a receipt and can be undone. The schema must have the extension `operations`.
import { MAX_VALUES } from "../../domain/portable/query/limits.ts";
import { jobColumns, jobNames } from "../../queue/sql/job-row.ts";
import { microseconds } from "../../queue/sql/moments.ts";
import type { Origin } from "../audit/audit-entry.ts";
import { type JobChange, storeRows } from "./job-change.ts";

/** What is stored about an action in addition to its jobs. */
export interface ActionRecord {
  readonly origin: Origin;
  readonly action: string;
  /** The new values, by the names of their fields in the HTTP API. */
  readonly changes: Readonly<Record<string, unknown>>;
}

/** The column that the statement returns in addition to the job's columns. */
export interface OperationIdRow {
  /** The id of the stored operation; null if the action made no change that can be undone. */
  readonly operation_id: string | null;
}

/**
 * Returns the statement. `tables`: common table expressions that make the change, with `acted` (the changed jobs),
 * `targets` (the ids of the jobs to record, with an `outcome`: `d` done, `l` locked, `g` not found) and, unless jobs
 * are deleted, `images` (the earlier state of the changed jobs). `first`: the number of the first parameter of
 * recordValues().
 */
export const recordedStatement = (
  s: string,
  change: JobChange,
  tables: string,
  first: number,
): string => `
  with ${tables}, operation as (
    insert into ${s}._private_operations (
      query, now_us, action, changes, performed_by, source, state, finished_at, max_id, before,
      matched, expected, after_id, done, skipped_locked, skipped_gone, kept
    )
    select
      -- If there are more ids than one term of a query may contain, only the receipt has them.
      case when pg_catalog.count(*) <= ${MAX_VALUES} then 'id:' || pg_catalog.string_agg(id::text, ',' order by id) else '' end,
      ${microseconds("pg_catalog.now()")}::bigint::text,
      $${first}::text, $${first + 1}::json, $${first + 2}::text, $${first + 3}::text,
      'done', pg_catalog.now(), pg_catalog.max(id), pg_catalog.now(), ${COUNTED}, ${COUNTED}, pg_catalog.max(id),
      pg_catalog.count(*) filter (where outcome = 'd'), pg_catalog.count(*) filter (where outcome = 'l'),
      pg_catalog.count(*) filter (where outcome = 'g'), pg_catalog.count(*)
    from targets
    having pg_catalog.bool_or(outcome = 'd')
    returning id
  ), kept as (
    ${storeRows(s, change, { operation: "(select id from operation)", outcome: "targets.outcome", targets: "targets", images: "images" })}
    where exists (select from operation)
  )
  select ${jobColumns}, (select id from operation) as operation_id
  from acted as jobs
  ${jobNames(s)}
  order by jobs.id`;

export const recordValues = ({ origin, action, changes }: ActionRecord): unknown[] => [
  ...[action, JSON.stringify(changes), origin.by, origin.source],
];

/** The number of jobs as the JSON of a Value (domain/value.ts). */
const COUNTED = `pg_catalog.json_build_object(
        'value', pg_catalog.count(*), 'precision', 'exact', 'basis', 'scan',
        'as_of', pg_catalog.to_char(pg_catalog.now() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')
      )`;
