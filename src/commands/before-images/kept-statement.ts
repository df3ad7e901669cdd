// What somebody does to single jobs, kept in the same statement as an operation that is over when it is
// there: its row, and a row for each job with what it was. So it stands in Activity, has its receipt, and
// is undone as operations by query are (operations/store/undo-statement.ts), there is no other way back.
// It needs the extension.
import { MOST_VALUES } from "../../domain/portable/query/limits.ts";
import { jobColumns, jobNames } from "../../queue/sql/job-row.ts";
import { microseconds } from "../../queue/sql/moments.ts";
import type { Origin } from "../audit/audit-entry.ts";
import { type JobChange, keepRows } from "./job-change.ts";

/** Whose it is, and what it is called: the words of operations by query. */
export interface Keeping {
  readonly origin: Origin;
  readonly action: string;
  /** By the names of the wire. */
  readonly changes: Readonly<Record<string, unknown>>;
}

/** The jobs that were changed, each with `operation_id`. */
export interface KeptRow {
  /** null: nothing was changed that can be undone. */
  readonly operation_id: string | null;
}

/**
 * `tables`: the statement's first tables. `acted` are the changed jobs with all their columns, `met` all
 * that were asked for, each with what became of it: done, locked, gone (`d`, `l`, `g`); and `was`, as in
 * keepRows. The values of `keptValues` are its parameters from number `first` on.
 */
export const keptStatement = (
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
      -- Where there are more than a query may name, only the receipt has them.
      case when pg_catalog.count(*) <= ${MOST_VALUES} then 'id:' || pg_catalog.string_agg(id::text, ',' order by id) else '' end,
      ${microseconds("pg_catalog.now()")}::bigint::text,
      $${first}::text, $${first + 1}::json, $${first + 2}::text, $${first + 3}::text,
      'done', pg_catalog.now(), pg_catalog.max(id), pg_catalog.now(), ${COUNTED}, ${COUNTED}, pg_catalog.max(id),
      pg_catalog.count(*) filter (where outcome = 'd'), pg_catalog.count(*) filter (where outcome = 'l'),
      pg_catalog.count(*) filter (where outcome = 'g'), pg_catalog.count(*)
    from met
    having pg_catalog.bool_or(outcome = 'd')
    returning id
  ), kept as (
    ${keepRows(s, change, { operation: "(select id from operation)", outcome: "met.outcome", met: "met", was: "was" })}
    where exists (select from operation)
  )
  select ${jobColumns}, (select id from operation) as operation_id
  from acted as jobs
  ${jobNames(s)}
  order by jobs.id`;

export const keptValues = ({ origin, action, changes }: Keeping): unknown[] => [
  ...[action, JSON.stringify(changes), origin.by, origin.source],
];

/** A Value. */
const COUNTED = `pg_catalog.json_build_object(
        'value', pg_catalog.count(*), 'precision', 'exact', 'basis', 'scan',
        'as_of', pg_catalog.to_char(pg_catalog.now() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')
      )`;
