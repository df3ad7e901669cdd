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
  /** int: jobs that can start at once. With "unkeyed" only. */
  readonly slots: string;
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
  // Without queued jobs beside them nobody asks for their places.
  const places = form.queues ? "j.ctid, j.id, j.job_queue_id, j.priority, j.run_at" : "j.ctid";
  const free = `free as materialized (${freeJobs(s, form, $, places)})`;
  return `${levels(s, form, $)}, ${free}${form.queues ? queuedJobs(s, form, $) : ""}`;
}

/*
 * jobs_main_index leads with priority, so `run_at <= now()` alone does not bound a scan: it would
 * walk every scheduled job of every priority. We jump from priority to priority (a loose index scan)
 * and probe each one, from that of the mark on: to look first whether it still has jobs would walk
 * over its dead entries twice, and what another lane commits meanwhile is then locked in vain.
 */
export const levels = (
  s: string,
  form: ReadyForm,
  $: ReadyParameters,
): string => `level (priority) as (
  select ${$.priority}::smallint
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

/**
 * Jobs at the head of a priority in which keyed ones, and those of other queues than the first, are
 * looked for: no index has the key, and none the queue.
 */
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
), ${form.queued === "unkeyed" ? candidatesBeside(s, form, $) : plainCandidates(s, form, $)},
question as materialized (
  select ${form.queued === "all" ? "array_agg(distinct job_queue_id)" : headsAre(form)} as queue_ids
  from candidate
), queue_lock as materialized (
  select id from ${s}._private_job_queues
  where is_available and id = any((select queue_ids from question)::int[])
  order by id for update skip locked
), chain as materialized (${form.queued === "unkeyed" ? upToAKey($) : inRuns($)}
), chain_lock as materialized (
  select j.ctid, j.id, j.job_queue_id, j.priority, j.run_at from ${s}._private_jobs j
  where j.ctid = any(array(select ctid from chain)) and j.is_available and j.run_at <= now()
  for update skip locked
), picked as materialized (
  select * from (select * from free union all select * from chain_lock) either
  order by priority, run_at, id limit ${$.want}::int
)`;

/** Up to `most` queued jobs; `also`: one more condition. */
const candidates = (
  s: string,
  form: ReadyForm,
  $: ReadyParameters,
  most = `${$.want}::int`,
  also = "",
) => `
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
      ${form.queued === "unkeyed" ? `and ${isOurs("j.job_queue_id", $)}` : ""} ${also}
      ${flagTest(form, $)}
    order by j.run_at limit ${most}) c
  where level.priority is not null
    and level.priority <= coalesce((select priority from edge), 32767)
    limit ${most}`;

const atLeast = (jobs: number, $: ReadyParameters) => `greatest(${$.want}::int, ${jobs})`;

const plainCandidates = (s: string, form: ReadyForm, $: ReadyParameters) =>
  `candidate as materialized (${
    form.queued === "keyed" ? candidates(s, form, $, atLeast(HEAD_JOBS, $)) : candidates(s, form, $)
  })`;

const isOurs = (queueId: string, $: ReadyParameters) =>
  `${queueId} % ${$.shares}::int = ${$.share}::int`;

/*
 * What row locks hold looks free to the next look, so a long queue would stand at the head for ever
 * and keep all slots but one idle. Where the candidates are of fewer queues than there are slots,
 * those of other queues are looked for behind them, and none gets more than its part.
 */
const candidatesBeside = (s: string, form: ReadyForm, $: ReadyParameters) => `
near as materialized (${candidates(s, form, $)}
), near_queues as materialized (
  select count(*) as jobs, array_agg(distinct job_queue_id) as ids from near
), crowd as materialized (
  select jobs >= ${$.want}::int and cardinality(ids) < ${$.slots}::int as is_crowded,
    jobs >= ${$.want}::int and cardinality(ids) < ${$.slots}::int and exists (
      select from ${s}._private_job_queues q
      where q.is_available and ${isOurs("q.id", $)} and q.id <> all(ids)) as has_others
  from near_queues
), candidate as materialized (
  select * from near union all
  select * from (${candidates(s, form, $, atLeast(HEAD_JOBS, $), BESIDE)}
  ) beside where (select has_others from crowd)
)`;

const BESIDE = "and j.job_queue_id <> all((select ids from near_queues)::int[])";

// Whoever locks a queue in vain is in the way of others, who would rest then: ordinary lanes lock
// those that begin with a key, fast lanes the others.
const headsAre = ({ queued }: ReadyForm) => `
  case when coalesce(bool_or(is_keyed), false) then
    array(select job_queue_id from (
      select distinct on (job_queue_id) job_queue_id, is_keyed from candidate
      order by job_queue_id, priority, run_at, id) head
    where ${queued === "keyed" ? "" : "not"} is_keyed)
  else ${queued === "keyed" ? "'{}'" : "array_agg(distinct job_queue_id)"} end`;

// A run has a limit, or one queue would keep a whole claim's jobs from other workers.
const inRuns = ($: ReadyParameters) => `
  select ctid from (
    select c.ctid, row_number() over (
      partition by job_queue_id order by priority, run_at, id) as place
    from candidate c where job_queue_id in (select id from queue_lock)) ranked
  where place <= greatest(${$.run}::int,
      ${$.want}::int / (select greatest(count(*), 1) from queue_lock))`;

// Mostly there is neither a key nor a crowd, and then they need no order here.
const upToAKey = ($: ReadyParameters) => `
  select ctid from candidate
  where job_queue_id in (select id from queue_lock) and not (${NEEDS_ORDER})
  union all
  select ctid from (
    select c.ctid, row_number() over in_order as place,
      bool_or(is_keyed) over (in_order rows unbounded preceding) as follows_keyed
    from candidate c where job_queue_id in (select id from queue_lock)
    window in_order as (partition by job_queue_id order by priority, run_at, id)) ranked
  where (${NEEDS_ORDER}) and not follows_keyed
    and place <= case when (select is_crowded from crowd) then greatest(${$.want}::int / (
        select cardinality(queue_ids) + (exists (select from free))::int from question), 1)
      else ${$.want}::int end`;

const NEEDS_ORDER = `(select coalesce(bool_or(is_keyed), false) from candidate)
    or (select is_crowded from crowd)`;
