  with lock as materialized (
    select pg_catalog.pg_try_advisory_xact_lock(pg_catalog.hashtextextended('worker:census:' || $4::text, 0)) as is_ours
  )
  select lock.is_ours, tallies.* from lock left join (
  select kind collate "C" as kind, tallied collate "C" as tallied, pg_catalog.json_agg(key)::text as keys, pg_catalog.json_agg(count)::text as counts,
    pg_catalog.json_agg(pg_catalog.date_part('epoch', at) * 1000::float8)::text as times
  from (
    select
      case grouping(task_id) when 0 then 'task' else 'queue' end as kind,
      coalesce(task_id, job_queue_id)::text as key, tallied, pg_catalog.count(*) as count,
      coalesce(
        pg_catalog.min(locked_at) filter (where tallied in ('fetched', 'running')),
        pg_catalog.max(failed_at),
        pg_catalog.min(run_at) filter (where tallied not in ('fetched', 'running', 'failed'))
      ) as at
    from (
      select jobs.task_id, jobs.job_queue_id, jobs.locked_at, jobs.run_at,
        case when jobs.locked_at is null and jobs.attempts >= jobs.max_attempts and coalesce(coalesce(jobs.run_at - pg_catalog.exp(least(jobs.attempts, 10)) * interval '1 second' = jobs.updated_at or jobs.updated_at <= jobs.created_at
    and jobs.run_at - pg_catalog.exp(least(jobs.attempts, 10)) * interval '1 second' > jobs.created_at and jobs.run_at - pg_catalog.exp(least(jobs.attempts, 10)) * interval '1 second' <= pg_catalog.now(), false) or (jobs.run_at > jobs.updated_at
      and (pg_catalog.date_part('microseconds', jobs.run_at)::bigint - pg_catalog.date_part('microseconds', jobs.updated_at)::bigint) % 1000::bigint = 0::bigint) is true or pg_catalog.left(jobs.last_error, 64::int) ~ '^(?:Marked failed |Manually marked as failed|cancelled(?:: |\n|$))'::text
    or jobs.attempts > 0 and jobs.run_at = jobs.updated_at and pg_catalog.left(jobs.last_error, 64::int) ~ '^Recovered(?: ([0-9]{1,5}) times in a row)?: '::text, false)
      then greatest(jobs.updated_at, case when jobs.attempts > 0 and jobs.run_at > jobs.created_at
      and jobs.run_at <= pg_catalog.now() + pg_catalog.exp(least(jobs.attempts, 10)) * interval '1 second' and not (jobs.run_at > jobs.updated_at
      and (pg_catalog.date_part('microseconds', jobs.run_at)::bigint - pg_catalog.date_part('microseconds', jobs.updated_at)::bigint) % 1000::bigint = 0::bigint) is true
      then jobs.run_at - pg_catalog.exp(least(jobs.attempts, 10)) * interval '1 second' end) end as failed_at,
        case
    when jobs.locked_at is not null then case when (select case pg_catalog.jsonb_typeof(holder.list)
        when 'array' then holder.list operator(pg_catalog.?) jobs.id::text
        when 'object' then not (holder.list -> 'running'::text) operator(pg_catalog.?) jobs.id::text
          and exists (select from "worker"._private_workers as workers where workers.id = jobs.locked_by
            and workers.last_heartbeat_at >= jobs.locked_at + interval '1 second')
        else false end
      from (select (
        select pg_catalog.jsonb_object_agg(listing.id, listing.list) from (
          select workers.id, case when pg_catalog.jsonb_typeof(workers.metadata -> 'fetched_job_ids'::text) = 'array' then workers.metadata -> 'fetched_job_ids'::text
            when case when pg_catalog.jsonb_typeof(workers.metadata -> 'running_job_ids'::text) = 'array'
    then pg_catalog.jsonb_array_length(workers.metadata -> 'running_job_ids'::text) <= 1000
      and coalesce(workers.metadata -> 'running_jobs'::text = pg_catalog.to_jsonb(pg_catalog.jsonb_array_length(workers.metadata -> 'running_job_ids'::text)), true)
    else false end then pg_catalog.jsonb_build_object('running', workers.metadata -> 'running_job_ids'::text) end as list
          from (
    select summed.id, summed.last_heartbeat_at, summed.started_at, summed.report_bytes,
      summed.report_bytes > 16777216::bigint as is_cut,
      case when summed.report_bytes <= 16777216::bigint and pg_catalog.jsonb_typeof(summed.metadata) = 'object'
        then summed.metadata || '{}'::jsonb end as metadata
    from (
      select latest.*,
        pg_catalog.sum(latest.bytes) over (order by latest.bytes, latest.id rows unbounded preceding)::bigint as report_bytes
      from (
        select workers.id, workers.last_heartbeat_at, workers.started_at, workers.metadata,
          coalesce(pg_catalog.pg_column_size(workers.metadata)::bigint * case pg_catalog.pg_column_compression(workers.metadata)
      when 'lz4' then 255 when 'pglz' then 90 else 1 end, 0) as bytes
        from "worker"._private_workers as workers
        where pg_catalog.octet_length(workers.id) <= 4096::int and true
        order by workers.last_heartbeat_at desc limit 10000
      ) as latest
    ) as summed
  ) as workers
        ) as listing
        where listing.list <> '[]'::jsonb and pg_catalog.pg_column_size(listing.list) <= 32768::int) -> pg_catalog.left(jobs.locked_by, 1024) as list offset 0) as holder) then 'fetched' else 'running' end
    when jobs.attempts >= jobs.max_attempts then 'failed'
    when jobs.run_at <= pg_catalog.now() and jobs.job_queue_id = any($1::int[]) then 'blocked'
    when jobs.attempts > 0 then case when jobs.run_at <= pg_catalog.now() then 'retrying_due' else 'retrying_ahead' end
    when jobs.run_at > pg_catalog.now() then 'scheduled'
    else 'ready'
  end as tallied
      from "worker"._private_jobs as jobs
      where jobs.ctid >= $2::tid and jobs.ctid < $3::tid and (select is_ours from lock)
      offset 0
    ) as jobs
    group by grouping sets ((task_id, tallied), (job_queue_id, tallied))
    union all
    select 'holder', pg_catalog.left(jobs.locked_by, 1024), 'running', pg_catalog.count(*), null
    from "worker"._private_jobs as jobs
    where jobs.ctid >= $2::tid and jobs.ctid < $3::tid and (select is_ours from lock) and locked_at is not null and locked_by is not null
    group by 2
  ) as grouped
  group by kind collate "C", tallied collate "C"
  ) as tallies on true
