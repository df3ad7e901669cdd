// Finds ready jobs and locks their rows: what the claim of an ordinary lane and the take of a fast
// lane have in common. What it must agree on with every other worker on the schema stands in the
// comments; why it is shaped like this, and what it costs, too.

/** Which form of the expressions is needed; each form is one prepared statement. */
export interface ReadyForm {
  /** Also look at jobs in named queues. */
  readonly queues: boolean;
  /** Skip jobs with a forbidden flag. Reads the heap, so only where there are such flags. */
  readonly flags: boolean;
  /** Which of the jobs without a queue: all, those with a key, or those without. */
  readonly free: KeyTest;
  /** Which runs of named queues: all; those that begin with a keyed job; those up to the first one. */
  readonly queued: KeyTest;
}

export type KeyTest = "all" | "keyed" | "unkeyed";

/** Where the statement has its parameters, as `$1`. */
export interface ReadyParameters {
  /** text[]: identifiers of the tasks that the worker knows. */
  readonly identifiers: string;
  /** int: most jobs. */
  readonly want: string;
  /**
   * smallint, float8: low-water mark. Jobs before (priority, run_at) are taken or taken soon. Under a
   * held xmin the dead index entries of finished jobs stay; without the mark each look would walk
   * over all of them.
   */
  readonly priority: string;
  readonly runAt: string;
  /**
   * int: most jobs of one named queue (a queue run), unless there are so few queues that an equal
   * share of `want` is more. With queues, but for "unkeyed" ones.
   */
  readonly run: string;
  /** int, int: only queues whose id leaves `share` when divided by `shares`. With "unkeyed" only. */
  readonly share: string;
  readonly shares: string;
  /** text[]: forbidden flags. With flags only. */
  readonly flags: string;
}

/** The name of the expression that has the `ctid` of each job to be taken. */
export function readyName(form: ReadyForm): "picked" | "free" {
  return form.queues ? "picked" : "free";
}

/** Common table expressions for `with recursive`. Their rows are locked until the transaction ends. */
export function readyJobs(s: string, form: ReadyForm, $: ReadyParameters): string {
  const places = "j.ctid, j.id, j.job_queue_id, j.priority, j.run_at";
  const free = `free as materialized (${freeJobs(s, form, $, places)})`;
  return `${levels(s, form, $)}, ${free}${form.queues ? queuedJobs(s, form, $) : ""}`;
}

/*
 * jobs_main_index leads with priority, so `run_at <= now()` alone does not bound a scan: it would
 * walk every scheduled job of every priority. We jump from priority to priority (a loose index scan)
 * and probe each one.
 */
export const levels = (
  s: string,
  form: ReadyForm,
  $: ReadyParameters,
): string => `level (priority) as (
  (select priority from ${s}._private_jobs
    where is_available ${sameIndex(form)}
      and (priority, run_at) >= (${$.priority}::smallint, to_timestamp(${$.runAt}::float8))
    order by priority limit 1)
  union all
  select (select j.priority from ${s}._private_jobs j
    where j.is_available ${sameIndex(form)} and j.priority > level.priority
    order by j.priority limit 1)
  from level where level.priority is not null
)`;

/**
 * Jobs without a queue. They are locked while the limit counts, so that two lanes that look at once
 * take different jobs instead of both the same.
 */
export const freeJobs = (
  s: string,
  form: ReadyForm,
  $: ReadyParameters,
  columns: string,
): string => `
  select f.* from level cross join lateral (
    select ${columns} from ${s}._private_jobs j
    where j.is_available and j.job_queue_id is null and j.priority = level.priority
      and j.run_at <= now()
      and j.run_at >= case when level.priority = ${$.priority}::smallint
                           then to_timestamp(${$.runAt}::float8) else '-infinity' end
      and ${isKnown(s, $)} ${keyTest(s, form)} ${flagTest(form, $)}
    order by j.run_at limit ${$.want}::int for update skip locked) f
  where level.priority is not null limit ${$.want}::int
`;

const isKnown = (s: string, $: ReadyParameters) => `j.task_id = any(array(
        select t.id from ${s}._private_tasks t where t.identifier = any(${$.identifiers}::text[])))`;

/** Jobs at the head of a priority in which keyed ones are looked for: no index has the key. */
const HEAD_JOBS = 2_000;

// Fast lanes work off what stands before a job with a key, until that is at the head, too.
const keyTest = (s: string, { free }: ReadyForm) => {
  if (free === "all") return "";
  if (free === "unkeyed") return "and j.key is null";
  return `and j.key is not null and j.ctid = any(array(
        select head.ctid from (
          select h.ctid, h.key from ${s}._private_jobs h
          where h.is_available and h.job_queue_id is null and h.priority = level.priority
            and h.run_at <= now() order by h.run_at limit ${HEAD_JOBS}) head
        where head.key is not null))`;
};

// Without queued jobs all can stay on jobs_no_queue_index. Reading a second index costs 50 B of WAL
// a job: full-page images of its hint bits, where data checksums are on.
const sameIndex = ({ queues }: ReadyForm) => (queues ? "" : "and job_queue_id is null");

const flagTest = ({ flags }: ReadyForm, $: ReadyParameters) =>
  flags ? `and (j.flags is null or not j.flags ?| ${$.flags}::text[])` : "";

/*
 * Jobs in named queues. A queue is locked once for a run of its jobs, which follow one after
 * another: without that a queue does one job a round trip.
 *
 * `edge`: where the free jobs already fill the claim, queued jobs behind the last of them cannot
 * be part of it; so the scan for them (no index has them alone) ends there. Before its moment, not
 * with it: a million jobs added at once have the same one.
 * `queue_lock`: only queues of candidates are locked, in id order, so that two claims cannot wait
 * for each other in a ring.
 * `chain`: the candidates are from our snapshot; what another worker did with a queue since then
 * is seen by the row locks, which test again whether a job is available, and due: it may have failed.
 */
const queuedJobs = (s: string, form: ReadyForm, $: ReadyParameters) => `, edge as (
  select priority, run_at from free where (select count(*) from free) >= ${$.want}::int
  order by priority desc, run_at desc limit 1
), candidate as materialized (
  select c.* from level cross join lateral (
    select j.ctid, j.id, j.job_queue_id, j.priority, j.run_at
      ${form.queued === "all" ? "" : ", j.key is not null as is_keyed"}
    from ${s}._private_jobs j
    where j.is_available and j.job_queue_id is not null and j.priority = level.priority
      and j.run_at <= now()
      and j.run_at < coalesce((select case when edge.priority > level.priority then 'infinity'
                                       else edge.run_at end from edge), 'infinity')
      and ${isKnown(s, $)}
      and exists (select from ${s}._private_job_queues q
        where q.id = j.job_queue_id and q.is_available)
      ${form.queued === "unkeyed" ? `and j.job_queue_id % ${$.shares}::int = ${$.share}::int` : ""}
      ${flagTest(form, $)}
    order by j.run_at limit ${candidates(form, $)}) c
  where level.priority is not null
    and level.priority <= coalesce((select priority from edge), 32767)
    limit ${candidates(form, $)}
), question as materialized (
  select array_agg(distinct job_queue_id) as queue_ids from ${form.queued === "keyed" ? KEYED_HEADS : "candidate"}
), queue_lock as materialized (
  select id from ${s}._private_job_queues
  where is_available and id = any((select queue_ids from question)::int[])
  order by id for update skip locked
), chain as materialized (${form.queued === "unkeyed" ? UP_TO_A_KEY : inRuns($)}
), chain_lock as materialized (
  select j.ctid, j.id, j.job_queue_id, j.priority, j.run_at from ${s}._private_jobs j
  where j.ctid = any(array(select ctid from chain)) and j.is_available and j.run_at <= now()
  for update skip locked
), picked as materialized (
  select * from (select * from free union all select * from chain_lock) either
  order by priority, run_at, id limit ${$.want}::int
)`;

const candidates = ({ queued }: ReadyForm, $: ReadyParameters) =>
  queued === "keyed" ? `greatest(${$.want}::int, ${HEAD_JOBS})` : `${$.want}::int`;

// Whoever locks a queue in vain is in the way of a fast lane, which would rest then.
const KEYED_HEADS = `(
    select distinct on (job_queue_id) job_queue_id, is_keyed from candidate
    order by job_queue_id, priority, run_at, id) head
  where is_keyed`;

// A run has a limit, or one queue would keep a whole claim's jobs from other workers.
const inRuns = ($: ReadyParameters) => `
  select ctid from (
    select c.ctid, row_number() over (
      partition by job_queue_id order by priority, run_at, id) as place
    from candidate c where job_queue_id in (select id from queue_lock)) ranked
  where place <= greatest(${$.run}::int,
      ${$.want}::int / (select greatest(count(*), 1) from queue_lock))`;

// A fast lane lets go soon of what it cannot start, so its runs need no limit of their own. Without
// keys, which is the rule, they need no order here either.
const UP_TO_A_KEY = `
  select ctid from candidate
  where job_queue_id in (select id from queue_lock)
    and not (select coalesce(bool_or(is_keyed), false) from candidate)
  union all
  select ctid from (
    select c.ctid, bool_or(is_keyed) over (partition by job_queue_id
      order by priority, run_at, id rows unbounded preceding) as follows_keyed
    from candidate c where job_queue_id in (select id from queue_lock)) ranked
  where not follows_keyed and (select bool_or(is_keyed) from candidate)`;
