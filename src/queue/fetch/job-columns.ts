// The columns in which jobs come from a fetch. One array a column costs PostgreSQL half of what one
// array a job does, and Node a few objects a fetch instead of a dozen a job (fetched-rows.ts).

/** A fetch's answer: each column as text, null where there are no jobs. */
export interface FetchedColumns {
  /** `{1,2}`: bigints stay exact. */
  readonly ids: string | null;
  /** Their exact texts, with PAYLOAD_SEPARATOR between them; nothing in the place of a large one. */
  readonly payloads: string | null;
  /** timestamptz in PostgreSQL's binary form, one after another, as base64. */
  readonly run_ats: string | null;
  // JSON: an array with a place for each job, or one number where all have the same.
  readonly task_ids: string | null;
  /** Their names in the same snapshot: an object, the id is the key. Ids are reused after a restore. */
  readonly task_names: string | null;
  readonly priorities: string | null;
  readonly attempts: string | null;
  readonly max_attempts: string | null;
  /** An array; null also where the form of the fetch takes no queued jobs. */
  readonly queue_ids: string | null;
  /** Their names: an object, the id is the key; null as above. */
  readonly queue_names: string | null;
  /** An array of seconds since the epoch, null for who was due when it was made; null for all. */
  readonly created_ats: string | null;
  /** Only of jobs that have any of these: `[id, key, revision, flags, last_error]`. */
  readonly rare: string | null;
}

/** What a Date can hold begins here; -infinity is shown as that. */
export const EARLIEST_S = -8.64e12;

/**
 * A larger payload comes by itself: a string of Node's holds 512 MiB, and the longest fetch that the
 * options allow (60,000 jobs: 10,000 slots and half of a local queue of 100,000) stays below that.
 */
const LARGE_BYTES = 8_192;

const IS_RARE =
  "j.key is not null or j.revision > 0 or j.flags is not null or j.last_error is not null";
const RARE = "pg_catalog.json_build_array(j.id::text, j.key, j.revision, j.flags, j.last_error)";

/** What `fetchedColumns` reads, from jobs `j`. `attempts`: the expression to be shown. */
export const fetchedSource = (
  attempts: string,
): string => `j.id, j.task_id, j.job_queue_id, j.payload,
    j.priority, j.run_at, ${attempts} as attempts, j.max_attempts,
    nullif(j.created_at, j.run_at) as created_at,
    case when ${IS_RARE}
      then ${RARE} end as rare`;

/**
 * The columns for a select list, from rows of `fetchedSource` called `taken j`. Most fetches are of jobs
 * that have much in common, and two sums of a column cost a quarter of an array; so do bytes.
 */
export const fetchedColumns = (s: string, form: { readonly queues: boolean }): string => `
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
  ${form.queues ? queueNames(s) : "null"} as queue_names,
  case when pg_catalog.count(j.created_at) > 0 then ${each("pg_catalog.date_part('epoch', created_at)")} end as created_ats,
  (pg_catalog.json_agg(j.rare) filter (where j.rare is not null))::text as rare`;

/**
 * The same of one job `j`, as one text for `FetchedRows.ofOne`: no aggregate is set up for it, and a driver takes
 * longer for each column of an answer than PostgreSQL for its value.
 */
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

// Only run where it is needed, in the order of the rows.
const each = (value: string) =>
  `(select pg_catalog.array_to_json(pg_catalog.array_agg(${value}))::text from taken)`;
