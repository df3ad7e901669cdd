  with part (priority) as (select 0)
  select concat_ws(',', edge.k0::text, floor(extract(epoch from edge.k1) * 1000000)::text) as edge
  from part cross join lateral (
      select jobs.priority as k0, jobs.run_at as k1
      
      from "worker"._private_jobs as jobs
      where (jobs.is_available)
      and (jobs.priority, jobs.run_at) >= ($1::int, (case $2::text
    when 'Infinity' then timestamptz 'infinity'
    when '-Infinity' then timestamptz '-infinity'
    else timestamptz '2000-01-01 00:00:00+00'
      + interval '1 hour' * div($2::numeric - 946684800000000, 3600000000)::float8
      + interval '1 microsecond' * mod($2::numeric - 946684800000000, 3600000000)::float8
  end))
      and jobs.run_at <= now()
      order by jobs.priority asc, jobs.run_at asc
      offset $3::int
      limit 1
  ) as edge
  where part.priority is not null
  order by edge.k0 asc, edge.k1 asc
  limit 1;

  with part (priority) as (select 0), found as materialized (
    select entry.*
    from part cross join lateral (
      select jobs.priority as k0, jobs.run_at as k1, jobs.id,
        ((jobs.is_available) and (jobs.is_available and jobs.run_at <= now())) is true as matches
      
      from "worker"._private_jobs as jobs
      where (jobs.is_available)
      and (jobs.priority, jobs.run_at) >= ($1::int, (case $2::text
    when 'Infinity' then timestamptz 'infinity'
    when '-Infinity' then timestamptz '-infinity'
    else timestamptz '2000-01-01 00:00:00+00'
      + interval '1 hour' * div($2::numeric - 946684800000000, 3600000000)::float8
      + interval '1 microsecond' * mod($2::numeric - 946684800000000, 3600000000)::float8
  end))
      and jobs.run_at <= now()
      order by jobs.priority asc, jobs.run_at asc
      limit $8::int
    ) as entry
    where part.priority is not null
    and entry.matches
    and (entry.k0, entry.k1) <= ($4::int, (case $5::text
    when 'Infinity' then timestamptz 'infinity'
    when '-Infinity' then timestamptz '-infinity'
    else timestamptz '2000-01-01 00:00:00+00'
      + interval '1 hour' * div($5::numeric - 946684800000000, 3600000000)::float8
      + interval '1 microsecond' * mod($5::numeric - 946684800000000, 3600000000)::float8
  end))
    and (entry.k0, entry.k1, entry.id) > ($1::int, (case $2::text
    when 'Infinity' then timestamptz 'infinity'
    when '-Infinity' then timestamptz '-infinity'
    else timestamptz '2000-01-01 00:00:00+00'
      + interval '1 hour' * div($2::numeric - 946684800000000, 3600000000)::float8
      + interval '1 microsecond' * mod($2::numeric - 946684800000000, 3600000000)::float8
  end), $3::bigint)
    order by entry.k0 asc, entry.k1 asc, entry.id asc
    limit $6::bigint + $7::bigint
  )
  select (select count(*) from found) as matched,
    array_to_string(array(
      select found.id from found order by found.k0 asc, found.k1 asc, found.id asc offset $6::bigint
    ), ',') as ids,
    array_to_string(array(
      select concat_ws(',', found.k0::text, floor(extract(epoch from found.k1) * 1000000)::text) from found order by found.k0 asc, found.k1 asc, found.id asc offset $6::bigint
    ), ';') as keys;

  with 
  bound as materialized (
    select max(id) as last, count(*) as rows
    from (
      select jobs.id
      from "worker"._private_jobs as jobs
      where jobs.id > $1::bigint
      order by jobs.id asc
      limit $2::bigint
    ) as chunk
  ), found as materialized (
    select jobs.id
    from "worker"._private_jobs as jobs
    where jobs.id > $1::bigint and jobs.id <= (select last from bound)
    and (jobs.is_available) and (jobs.priority = $5::int and jobs.run_at = (case $6::text
    when 'Infinity' then timestamptz 'infinity'
    when '-Infinity' then timestamptz '-infinity'
    else timestamptz '2000-01-01 00:00:00+00'
      + interval '1 hour' * div($6::numeric - 946684800000000, 3600000000)::float8
      + interval '1 microsecond' * mod($6::numeric - 946684800000000, 3600000000)::float8
  end)
    and (jobs.is_available and jobs.run_at <= now()))
    order by jobs.id asc
    limit $3::bigint + $4::bigint
  )
  select bound.last, bound.rows, (select count(*) from found) as matched,
    array_to_string(array(
      select id from found order by id asc offset $3::bigint
    ), ',') as ids
  from bound;

  select 
  jobs.id, jobs.task_id, tasks.identifier as task_identifier,
  jobs.job_queue_id, queues.queue_name, case when pg_column_size(jobs.payload) <= 16384
    and pg_column_compression(jobs.payload) is null
    and coalesce(octet_length(jobs.last_error), 0) <= 16384 then jobs.payload end as payload, jobs.priority,
  floor(extract(epoch from jobs.run_at) * 1000000) as run_at_us,
  jobs.attempts, jobs.max_attempts, case when pg_column_size(jobs.payload) <= 16384
    and pg_column_compression(jobs.payload) is null
    and coalesce(octet_length(jobs.last_error), 0) <= 16384 then jobs.last_error end as last_error,
  floor(extract(epoch from jobs.created_at) * 1000000) as created_at_us,
  floor(extract(epoch from jobs.updated_at) * 1000000) as updated_at_us,
  jobs.key, floor(extract(epoch from jobs.locked_at) * 1000000) as locked_at_us, left(jobs.locked_by, 1000) as locked_by,
  jobs.revision, case when coalesce(pg_column_size(jobs.flags), 0) <= 16384 then jobs.flags end as flags, jobs.is_available,
  case
    when jobs.locked_at is not null then 'locked'
    when jobs.attempts >= jobs.max_attempts then 'failed'
    when jobs.run_at > now() then 'scheduled'
    else 'ready'
  end as state,
    pg_column_size(jobs.payload) as payload_bytes,
    pg_column_compression(jobs.payload) is not null as is_packed,
    coalesce(octet_length(jobs.last_error), 0) as error_bytes,
    (pg_column_size(jobs.payload) <= 16384
    and pg_column_compression(jobs.payload) is null
    and coalesce(octet_length(jobs.last_error), 0) <= 16384) is not true as is_large
  from "worker"._private_jobs as jobs
  
  left join "worker"._private_tasks as tasks on tasks.id = jobs.task_id
  left join "worker"._private_job_queues as queues on queues.id = jobs.job_queue_id
  where jobs.id = any($1::bigint[])
