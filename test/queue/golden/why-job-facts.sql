select coalesce(pg_catalog.has_table_privilege(pg_catalog.to_regclass($1::text), 'select'), false) as is_there;

  select jobs.id, tasks.identifier as task, jobs.priority, jobs.attempts, jobs.max_attempts,
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
    when jobs.run_at <= pg_catalog.now() and queues.locked_at is not null and not coalesce(pg_catalog.left(queues.locked_by, 8) like 'managed:%', false) then 'blocked'
    when jobs.attempts > 0 then 'retrying'
    when jobs.run_at > pg_catalog.now() then 'scheduled'
    else 'ready'
  end as condition,
    pg_catalog.floor(extract(epoch from jobs.run_at) * 1000000::numeric) as run_at_us, jobs.run_at <= pg_catalog.now() as is_due,
    jobs.run_at = 'infinity' as is_never, pg_catalog.left(jobs.last_error, 600) as error_start,
    pg_catalog.floor(extract(epoch from jobs.created_at) * 1000000::numeric) as created_us, pg_catalog.floor(extract(epoch from greatest(jobs.updated_at, case when jobs.attempts > 0 and jobs.run_at > jobs.created_at
      and jobs.run_at <= pg_catalog.now() + pg_catalog.exp(least(jobs.attempts, 10)) * interval '1 second' and not (jobs.run_at > jobs.updated_at
      and (pg_catalog.date_part('microseconds', jobs.run_at)::bigint - pg_catalog.date_part('microseconds', jobs.updated_at)::bigint) % 1000::bigint = 0::bigint) is true
      then jobs.run_at - pg_catalog.exp(least(jobs.attempts, 10)) * interval '1 second' end)) * 1000000::numeric) as failed_us,
    coalesce(coalesce(jobs.run_at - pg_catalog.exp(least(jobs.attempts, 10)) * interval '1 second' = jobs.updated_at or jobs.updated_at <= jobs.created_at
    and jobs.run_at - pg_catalog.exp(least(jobs.attempts, 10)) * interval '1 second' > jobs.created_at and jobs.run_at - pg_catalog.exp(least(jobs.attempts, 10)) * interval '1 second' <= pg_catalog.now(), false) or (jobs.run_at > jobs.updated_at
      and (pg_catalog.date_part('microseconds', jobs.run_at)::bigint - pg_catalog.date_part('microseconds', jobs.updated_at)::bigint) % 1000::bigint = 0::bigint) is true or pg_catalog.left(jobs.last_error, 64::int) ~ '^(?:Marked failed |Manually marked as failed|cancelled(?:: |\n|$))'::text
    or jobs.attempts > 0 and jobs.run_at = jobs.updated_at and pg_catalog.left(jobs.last_error, 64::int) ~ '^Recovered(?: ([0-9]{1,5}) times in a row)?: '::text, false) as is_failure_timed, jobs.updated_at <= jobs.created_at as is_unchanged,
    (jobs.flags is null or case when case when pg_catalog.pg_column_size(jobs.flags) > 65536::int then false
      when pg_catalog.pg_column_compression(jobs.flags) is not null then pg_catalog.octet_length(jobs.flags::text) <= 65536::int
      else true end
      then pg_catalog.strpos(jobs.flags::text, '"retry:') = 0 else false end) and (jobs.attempts = 0 or coalesce(jobs.run_at - pg_catalog.exp(least(jobs.attempts, 10)) * interval '1 second' = jobs.updated_at or jobs.updated_at <= jobs.created_at
    and jobs.run_at - pg_catalog.exp(least(jobs.attempts, 10)) * interval '1 second' > jobs.created_at and jobs.run_at - pg_catalog.exp(least(jobs.attempts, 10)) * interval '1 second' <= pg_catalog.now(), false)) as has_formula_delay,
    case when case when pg_catalog.pg_column_size(jobs.flags) > 65536::int then false
      when pg_catalog.pg_column_compression(jobs.flags) is not null then pg_catalog.octet_length(jobs.flags::text) <= 65536::int
      else true end
      then (select pg_catalog.string_agg(flag, ' ') from pg_catalog.jsonb_object_keys(jobs.flags) as flag
        where pg_catalog.strpos(flag, 'deadline:') = 1) end as deadline_flags,
    pg_catalog.floor(extract(epoch from jobs.locked_at) * 1000000::numeric) as locked_us, pg_catalog.left(jobs.locked_by, 1024) as locked_by,
    queues.id as queue_id, queues.queue_name,
    jobs.job_queue_id is not null and queues.id is null as is_queue_lost, pg_catalog.floor(extract(epoch from case when not coalesce(pg_catalog.left(queues.locked_by, 8) like any (array['paused:%', 'managed:%']), false) then queues.locked_at end) * 1000000::numeric) as queue_locked_us,
    case when not coalesce(pg_catalog.left(queues.locked_by, 8) like any (array['paused:%', 'managed:%']), false) then pg_catalog.left(queues.locked_by, 1024) end as queue_locked_by, coalesce(pg_catalog.left(queues.locked_by, 8) like 'paused:%', false) as queue_is_paused, pg_catalog.floor(extract(epoch from pg_catalog.now()) * 1000000::numeric) as now_us
  from "worker"._private_jobs as jobs
  
  left join "worker"._private_tasks as tasks on tasks.id = jobs.task_id
  left join "worker"._private_job_queues as queues on queues.id = jobs.job_queue_id
  where jobs.id = $1::bigint
