  select id, identifier from "worker"._private_tasks
  where $1::text = '' or pg_catalog.strpos(pg_catalog.lower(identifier), pg_catalog.lower($1::text)) > 0
  order by identifier limit 20000;

select coalesce(pg_catalog.has_table_privilege(pg_catalog.to_regclass($1::text), 'select'), false) as is_there;

  select pg_catalog.floor(extract(epoch from pg_catalog.now()) * 1000000::numeric) as now_us, null as id, false as is_found, false as is_stale;

  select pg_catalog.pg_relation_size(pg_catalog.to_regclass($1::text)) / pg_catalog.current_setting('block_size')::int
    <= 4096 as is_small;

  select locked_by as worker_id,
    pg_catalog.count(*) filter (where is_job)::int as jobs,
    pg_catalog.count(*) filter (where not is_job)::int as queues,
    pg_catalog.floor(extract(epoch from pg_catalog.min(locked_at)) * 1000000::numeric) as oldest_us
  from (
    select pg_catalog.left(queues.locked_by, 1024) as locked_by, locked_at, false as is_job
    from "worker"._private_job_queues as queues
    where locked_by is not null and queues.locked_at is not null and not coalesce(pg_catalog.left(queues.locked_by, 8) like any (array['paused:%', 'managed:%']), false)
  ) as locks
  group by locked_by
  limit 10000;

  with found as materialized (
    select jobs.id, jobs.task_id, case when coalesce(coalesce(jobs.run_at - pg_catalog.exp(least(jobs.attempts, 10)) * interval '1 second' = jobs.updated_at or jobs.updated_at <= jobs.created_at
    and jobs.run_at - pg_catalog.exp(least(jobs.attempts, 10)) * interval '1 second' > jobs.created_at and jobs.run_at - pg_catalog.exp(least(jobs.attempts, 10)) * interval '1 second' <= pg_catalog.now(), false) or (jobs.run_at > jobs.updated_at
      and (pg_catalog.date_part('microseconds', jobs.run_at)::bigint - pg_catalog.date_part('microseconds', jobs.updated_at)::bigint) % 1000::bigint = 0::bigint) is true or pg_catalog.left(jobs.last_error, 64::int) ~ '^(?:Marked failed |Manually marked as failed|cancelled(?:: |\n|$))'::text
    or jobs.attempts > 0 and jobs.run_at = jobs.updated_at and pg_catalog.left(jobs.last_error, 64::int) ~ '^Recovered(?: ([0-9]{1,5}) times in a row)?: '::text, false) then greatest(jobs.updated_at, case when jobs.attempts > 0 and jobs.run_at > jobs.created_at
      and jobs.run_at <= pg_catalog.now() + pg_catalog.exp(least(jobs.attempts, 10)) * interval '1 second' and not (jobs.run_at > jobs.updated_at
      and (pg_catalog.date_part('microseconds', jobs.run_at)::bigint - pg_catalog.date_part('microseconds', jobs.updated_at)::bigint) % 1000::bigint = 0::bigint) is true
      then jobs.run_at - pg_catalog.exp(least(jobs.attempts, 10)) * interval '1 second' end) end as at from "worker"._private_jobs as jobs
    where jobs.task_id = any ($1::int[]) and jobs.last_error is not null
  ), last as (
    select distinct on (found.task_id) found.id
    from found
    where found.task_id = any ($1::int[])
    order by found.task_id, found.at desc nulls last, found.id desc
  )
  select jobs.task_id, pg_catalog.left(jobs.last_error, 300) as start,
    pg_catalog.floor(extract(epoch from case when coalesce(coalesce(jobs.run_at - pg_catalog.exp(least(jobs.attempts, 10)) * interval '1 second' = jobs.updated_at or jobs.updated_at <= jobs.created_at
    and jobs.run_at - pg_catalog.exp(least(jobs.attempts, 10)) * interval '1 second' > jobs.created_at and jobs.run_at - pg_catalog.exp(least(jobs.attempts, 10)) * interval '1 second' <= pg_catalog.now(), false) or (jobs.run_at > jobs.updated_at
      and (pg_catalog.date_part('microseconds', jobs.run_at)::bigint - pg_catalog.date_part('microseconds', jobs.updated_at)::bigint) % 1000::bigint = 0::bigint) is true or pg_catalog.left(jobs.last_error, 64::int) ~ '^(?:Marked failed |Manually marked as failed|cancelled(?:: |\n|$))'::text
    or jobs.attempts > 0 and jobs.run_at = jobs.updated_at and pg_catalog.left(jobs.last_error, 64::int) ~ '^Recovered(?: ([0-9]{1,5}) times in a row)?: '::text, false) then greatest(jobs.updated_at, case when jobs.attempts > 0 and jobs.run_at > jobs.created_at
      and jobs.run_at <= pg_catalog.now() + pg_catalog.exp(least(jobs.attempts, 10)) * interval '1 second' and not (jobs.run_at > jobs.updated_at
      and (pg_catalog.date_part('microseconds', jobs.run_at)::bigint - pg_catalog.date_part('microseconds', jobs.updated_at)::bigint) % 1000::bigint = 0::bigint) is true
      then jobs.run_at - pg_catalog.exp(least(jobs.attempts, 10)) * interval '1 second' end) end) * 1000::numeric) as at_ms
  from last join "worker"._private_jobs as jobs on jobs.id = last.id
  where jobs.last_error is not null
