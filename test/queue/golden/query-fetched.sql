select pg_catalog.floor(extract(epoch from pg_catalog.now()) * 1000000::numeric)::text as us;

select coalesce(pg_catalog.has_table_privilege(pg_catalog.to_regclass($1::text), 'select'), false) as is_there;

-- is:fetched or is:running or is:locked
select jobs.id, null::text as marks
from "worker"._private_jobs as jobs
where jobs.id > $1::bigint
and ((jobs.locked_at is not null and not jobs.is_available and (select case pg_catalog.jsonb_typeof(holder.list)
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
        where listing.list <> '[]'::jsonb and pg_catalog.pg_column_size(listing.list) <= 32768::int) -> pg_catalog.left(jobs.locked_by, 1024) as list offset 0) as holder)) or (jobs.locked_at is not null and not jobs.is_available and not (select case pg_catalog.jsonb_typeof(holder.list)
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
        where listing.list <> '[]'::jsonb and pg_catalog.pg_column_size(listing.list) <= 32768::int) -> pg_catalog.left(jobs.locked_by, 1024) as list offset 0) as holder)) or (jobs.locked_at is not null and not jobs.is_available))
order by jobs.id
