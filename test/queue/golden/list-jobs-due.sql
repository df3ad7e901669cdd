  with recursive priorities (priority, place) as (
    (select priority, 1 from "worker"._private_jobs where is_available order by priority limit 1)
    union all
    select (
      select jobs.priority from "worker"._private_jobs as jobs
      where jobs.is_available and jobs.priority > priorities.priority
      order by jobs.priority limit 1
    ), place + 1
    from priorities where priorities.priority is not null and place < 32
  )
  select priority from priorities where priority is not null order by priority;

  with entry as materialized (
    select merged.*, pg_catalog.row_number() over (order by merged.k0 asc, merged.id asc) as n
    from (
      (
        select jobs.run_at as k0, jobs.id, true as may
        from "worker"._private_jobs as jobs
        where (jobs.is_available) and jobs.priority = $6::int
        and (jobs.run_at) >= ($1::text::timestamptz)
        and (jobs.run_at, jobs.id) > ($1::text::timestamptz, $2::bigint)
        and jobs.run_at > pg_catalog.now()
        order by jobs.run_at asc
        limit $3::int + 20000
      )
    ) as merged
    order by merged.k0 asc, merged.id asc
    limit $3::int
  ), found as materialized (
    select entry.*
    from entry
    cross join lateral (
      select from "worker"._private_jobs as jobs
      where jobs.id = entry.id and (jobs.is_available) and (jobs.is_available and jobs.run_at > pg_catalog.now())
      offset 0
    ) as job
    where entry.may
    limit $4::bigint + $5::bigint
  ), last as materialized (
    (select found.* from found order by n desc limit case when (select pg_catalog.count(*) from found) >= $4::bigint + $5::bigint then 1 else 0 end)
    union all
    (select entry.* from entry order by n desc limit case when (select pg_catalog.count(*) from found) >= $4::bigint + $5::bigint then 0 else 1 end)
  ), edge as materialized (
    select last.*, exists (
      select from "worker"._private_jobs as jobs
      where (jobs.is_available) and jobs.priority = any($7::int[])
      and jobs.run_at = last.k0
      limit 1 offset 20000
    ) as is_crowd
    from last
  ), kept as materialized (
    select found.* from found cross join edge
    where not (edge.is_crowd and (found.k0) = (edge.k0))
  )
  select edge.n::text as seen, edge.id::text as last_id, pg_catalog.concat_ws(',', pg_catalog.floor(extract(epoch from edge.k0) * 1000000::numeric)::text) as last_key, edge.is_crowd,
    (select pg_catalog.count(*)::text from kept) as matched,
    pg_catalog.array_to_string(array(select id from kept order by n offset $4::bigint), ',') as ids,
    pg_catalog.array_to_string(array(
      select pg_catalog.concat_ws(',', pg_catalog.floor(extract(epoch from kept.k0) * 1000000::numeric)::text) from kept order by n offset $4::bigint
    ), ';') as keys
  from (select) as one left join edge on true;

  select 
  jobs.id::text, jobs.task_id, tasks.identifier as task_identifier,
  jobs.job_queue_id, queues.queue_name, (case when pg_catalog.pg_column_size(jobs.payload) <= 16384
    and not (pg_catalog.pg_column_compression(jobs.payload) is not null)
    and coalesce(pg_catalog.octet_length(jobs.last_error), 0) <= 16384 then jobs.payload end)::text as payload, jobs.priority,
  pg_catalog.floor(extract(epoch from jobs.run_at) * 1000000::numeric)::text as run_at_us,
  jobs.attempts, jobs.max_attempts, case when pg_catalog.pg_column_size(jobs.payload) <= 16384
    and not (pg_catalog.pg_column_compression(jobs.payload) is not null)
    and coalesce(pg_catalog.octet_length(jobs.last_error), 0) <= 16384 then jobs.last_error end as last_error,
  pg_catalog.floor(extract(epoch from jobs.created_at) * 1000000::numeric)::text as created_at_us,
  pg_catalog.floor(extract(epoch from jobs.updated_at) * 1000000::numeric)::text as updated_at_us,
  jobs.key, pg_catalog.floor(extract(epoch from jobs.locked_at) * 1000000::numeric)::text as locked_at_us, pg_catalog.left(jobs.locked_by, 1000) as locked_by,
  jobs.revision, (case when pg_catalog.pg_column_size(jobs.flags)::bigint * case pg_catalog.pg_column_compression(jobs.flags)
      when 'lz4' then 255 when 'pglz' then 90 else 1 end <= 65536 then jobs.flags end)::text as flags, jobs.is_available,
  case
    when jobs.locked_at is not null then 'locked'
    when jobs.attempts >= jobs.max_attempts then 'failed'
    when jobs.run_at > pg_catalog.now() then 'scheduled'
    else 'ready'
  end as state,
    pg_catalog.pg_column_size(jobs.payload) as payload_bytes,
    (pg_catalog.pg_column_size(jobs.payload)::bigint * case pg_catalog.pg_column_compression(jobs.payload)
      when 'lz4' then 255 when 'pglz' then 90 else 1 end)::float8 as worst_bytes,
    coalesce(pg_catalog.octet_length(jobs.last_error), 0) as error_bytes,
    (pg_catalog.pg_column_size(jobs.payload) <= 16384
    and not (pg_catalog.pg_column_compression(jobs.payload) is not null)
    and coalesce(pg_catalog.octet_length(jobs.last_error), 0) <= 16384) is not true as is_large
  from "worker"._private_jobs as jobs
  
  left join "worker"._private_tasks as tasks on tasks.id = jobs.task_id
  left join lateral (
    select queue_name, locked_by, locked_at from "worker"._private_job_queues
    where id = jobs.job_queue_id offset 0
  ) as queues on true
  where jobs.id = any($1::bigint[])
