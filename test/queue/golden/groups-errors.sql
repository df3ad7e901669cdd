  select 0 as place, jobs.id, jobs.task_id,
      jobs.job_queue_id as queue_id, pg_catalog.left(jobs.locked_by, 1024) as locked_by, jobs.priority,
      pg_catalog.left(jobs.last_error, 600) as error_start,
      case when coalesce(coalesce(jobs.run_at - pg_catalog.exp(least(jobs.attempts, 10)) * interval '1 second' = jobs.updated_at or jobs.updated_at <= jobs.created_at
    and jobs.run_at - pg_catalog.exp(least(jobs.attempts, 10)) * interval '1 second' > jobs.created_at and jobs.run_at - pg_catalog.exp(least(jobs.attempts, 10)) * interval '1 second' <= pg_catalog.now(), false) or (jobs.run_at > jobs.updated_at
      and (pg_catalog.date_part('microseconds', jobs.run_at)::bigint - pg_catalog.date_part('microseconds', jobs.updated_at)::bigint) % 1000::bigint = 0::bigint) is true or pg_catalog.left(jobs.last_error, 64::int) ~ '^(?:Marked failed |Manually marked as failed|cancelled(?:: |\n|$))'::text
    or jobs.attempts > 0 and jobs.run_at = jobs.updated_at and pg_catalog.left(jobs.last_error, 64::int) ~ '^Recovered(?: ([0-9]{1,5}) times in a row)?: '::text, false) then pg_catalog.date_part('epoch', greatest(jobs.updated_at, case when jobs.attempts > 0 and jobs.run_at > jobs.created_at
      and jobs.run_at <= pg_catalog.now() + pg_catalog.exp(least(jobs.attempts, 10)) * interval '1 second' and not (jobs.run_at > jobs.updated_at
      and (pg_catalog.date_part('microseconds', jobs.run_at)::bigint - pg_catalog.date_part('microseconds', jobs.updated_at)::bigint) % 1000::bigint = 0::bigint) is true
      then jobs.run_at - pg_catalog.exp(least(jobs.attempts, 10)) * interval '1 second' end)) end as failed_s,
      null::text as marks,
      false as is_undecided,
      null::text as payload, pg_catalog.left(null::text, $1::int) as last_error
  from "worker"._private_jobs as jobs
  where jobs.id > $3::bigint and jobs.last_error is not null and (jobs.task_id = any($4::int[]))
  
  limit $2::int;

select id, identifier as name from "worker"._private_tasks where id = any($1::int[])
