// The columns of a fetch's result: one row with a list for each column, instead of a row for each job. This halves the
// cost in PostgreSQL.

/** The columns of the jobs as text, each null if there are no jobs. */
export interface FetchedColumns {
  /** The ids, such as `{1,2}`. */
  readonly ids: string | null;
  /** The payloads' exact texts, joined by PAYLOAD_SEPARATOR. */
  readonly payloads: string | null;
  /** The jobs' run_at: timestamptz values in PostgreSQL's binary form, concatenated, in base64. */
  readonly run_ats: string | null;
  // `task_ids`, `priorities`, `attempts`, `max_attempts`: a JSON array of numbers, or one number if all are equal.
  readonly task_ids: string | null;
  /** JSON: the tasks' names by id. Read with the jobs, because a restored database may use an id for another task. */
  readonly task_names: string | null;
  readonly priorities: string | null;
  readonly attempts: string | null;
  readonly max_attempts: string | null;
  /** JSON: for each job, the id of its queue (in the form "slots", the lock of its run: sql/slots.ts), or null. */
  readonly queue_ids: string | null;
  /** JSON: the names of the queues by the numbers in `queue_ids`. */
  readonly queue_names: string | null;
  /** JSON: for each job created_at in seconds since the epoch, or null if created_at equals run_at. */
  readonly created_ats: string | null;
  /** JSON: `[id, key, revision, flags, last_error]` for each job with a key, revision > 0, flags or an error. */
  readonly rare: string | null;
}

/** The earliest time that a Date can represent, in seconds since the epoch. It replaces -infinity. */
export const EARLIEST_S = -8.64e12;

/** Larger payloads are read separately, so that the largest fetch (60,000 jobs) fits into a Node string (512 MiB). */
const LARGE_BYTES = 8_192;

const IS_RARE =
  "j.key is not null or j.revision > 0 or j.flags is not null or j.last_error is not null";
const RARE = "pg_catalog.json_build_array(j.id::text, j.key, j.revision, j.flags, j.last_error)";

/** Returns the source columns of `fetchedColumns`, from jobs `j`. */
export const fetchedSource = (
  attempts: string,
): string => `j.id, j.task_id, j.job_queue_id, j.payload,
    j.priority, j.run_at, ${attempts} as attempts, j.max_attempts,
    nullif(j.created_at, j.run_at) as created_at,
    case when ${IS_RARE}
      then ${RARE} end as rare`;

/** Returns the columns for a select list, from rows of `fetchedSource` named `taken j`. */
export const fetchedColumns = (s: string, form: { readonly queues: boolean | "slots" }): string => `
  pg_catalog.array_agg(j.id)::text as ids,
  pg_catalog.encode(pg_catalog.string_agg(pg_catalog.timestamptz_send(j.run_at), ''), 'base64') as run_ats,
  pg_catalog.string_agg(case when pg_catalog.octet_length(j.payload::text) > ${LARGE_BYTES} then '' else j.payload::text end,
    E'\\x1f') as payloads,
  ${sameOrEach("task_id")} as task_ids,
  ${taskNames(s)} as task_names,
  ${sameOrEach("priority")} as priorities,
  ${sameOrEach("attempts")} as attempts,
  ${sameOrEach("max_attempts")} as max_attempts,
  ${form.queues ? "pg_catalog.array_to_json(pg_catalog.array_agg(j.job_queue_id))::text" : "null"} as queue_ids,
  ${form.queues === "slots" ? slotQueueNames(s) : form.queues ? queueNames(s) : "null"} as queue_names,
  case when pg_catalog.count(j.created_at) > 0 then ${each("pg_catalog.date_part('epoch', created_at)")} end as created_ats,
  (pg_catalog.json_agg(j.rare) filter (where j.rare is not null))::text as rare`;

/** Returns one text of a job `j` for `FetchedRows.ofOne`. A driver reads one text faster than many columns. */
export const columnsText = (s: string, attempts: string): string => `
  pg_catalog.concat_ws(E'\\x1f', pg_catalog.concat('{', j.id, '}'), j.payload,
    pg_catalog.encode(pg_catalog.timestamptz_send(j.run_at), 'base64'), j.task_id,
    coalesce((select pg_catalog.json_build_object(t.id, t.identifier)::text
      from ${s}._private_tasks t where t.id = j.task_id), ''),
    j.priority, ${attempts}, j.max_attempts,
    case when j.created_at = j.run_at then ''
      else pg_catalog.json_build_array(pg_catalog.date_part('epoch', j.created_at))::text end,
    case when ${IS_RARE} then pg_catalog.json_build_array(${RARE})::text else '' end) as job`;

const sameOrEach = (column: string) =>
  `case when pg_catalog.min(j.${column}) = pg_catalog.max(j.${column}) then pg_catalog.min(j.${column})::text else ${each(column)} end`;

const taskNames = (s: string) => `(select pg_catalog.json_object_agg(t.id, t.identifier)::text
    from ${s}._private_tasks t where t.id = any(array(select task_id from taken)))`;

const queueNames = (s: string) => `(select pg_catalog.json_object_agg(q.id, q.queue_name)::text
    from ${s}._private_job_queues q
    where q.id = any(array(select job_queue_id from taken where job_queue_id is not null)))`;

const slotQueueNames = (
  s: string,
) => `(select pg_catalog.json_object_agg(t.lock, q.queue_name)::text
    from (select distinct job_queue_id as lock from taken) t
    join ${s}._private_job_queues q on q.id = (t.lock & 4294967295::bigint)::int)`;

// PostgreSQL evaluates a subquery in a CASE only if its branch is selected.
const each = (value: string) =>
  `(select pg_catalog.array_to_json(pg_catalog.array_agg(${value}))::text from taken)`;
