  select sampled.place::int as place, job.*
  from pg_catalog.unnest($3::bigint[]) with ordinality as sampled (page, place)
  cross join lateral (
      select jobs.id, jobs.task_id,
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
      
      case when pg_catalog.pg_column_size(jobs.payload) <= $1::int and not (pg_catalog.pg_column_compression(jobs.payload) is not null)
        then jobs.payload end as payload,
      case when pg_catalog.pg_column_compression(jobs.payload) is not null and pg_catalog.pg_column_size(jobs.payload) <= $1::int
        then (pg_catalog.pg_column_size(jobs.payload)::bigint * case pg_catalog.pg_column_compression(jobs.payload)
      when 'lz4' then 255 when 'pglz' then 90 else 1 end)::float8 end as packed_bytes,
      jobs.ctid::text as place_in_table, pg_catalog.left(jobs.last_error, $1::int) as last_error from "worker"._private_jobs as jobs
      where jobs.ctid >= ('(' || sampled.page::text || ',0)')::tid
        and jobs.ctid < ('(' || (sampled.page + 1)::text || ',0)')::tid
        and (jobs.task_id = any($4::int[]))
      offset 0
  ) as job
  limit $2::int;

  select job.id, pg_catalog.octet_length(job.payload) as bytes,
    case when pg_catalog.octet_length(job.payload) <= $3::int then job.payload end as payload
  from (
    select jobs.id, jobs.payload::text as payload
    from "worker"._private_jobs as jobs
    where jobs.ctid = any($1::tid[]) and jobs.id = any($2::bigint[])
    offset 0
  ) as job;

  select pg_catalog.count(*) as jobs
  from pg_catalog.unnest($1::bigint[]) as sampled (page)
  cross join lateral (
      select  from "worker"._private_jobs as jobs
      where jobs.ctid >= ('(' || sampled.page::text || ',0)')::tid
        and jobs.ctid < ('(' || (sampled.page + 1)::text || ',0)')::tid
        and true
      offset 0
  ) as job;

select id, identifier as name from "worker"._private_tasks where id = any($1::int[])
