  select max(jobs.id) as id from "worker"._private_jobs as jobs;

  select last, rows, coalesce(array_length(ids, 1), 0) as matched,
    array_to_string(ids[$3::int + 1 : $3::int + $4::int], ',') as ids
  from (
    select max(id) as last, count(*) as rows,
      array_agg(id) filter (where is_match) as ids
    from (
      select jobs.id, ((true) and (jobs.id <= $5::bigint)) as is_match
      from "worker"._private_jobs as jobs
      where jobs.id > $1::bigint
      order by jobs.id asc
      limit $2::bigint
    ) as looked
  ) as chunk;

  with weighed as (
    select jobs.id, pg_column_size(jobs.payload)::bigint
      * case when pg_column_compression(jobs.payload) is null then 1 else 100 end
      + coalesce(octet_length(jobs.last_error), 0)
      + coalesce(pg_column_size(jobs.flags), 0) + 200 as bytes
    from "worker"._private_jobs as jobs
    where jobs.id = any($1::bigint[])
  ), summed as (
    select id, sum(bytes) over (order by id) as bytes, row_number() over (order by id) as place
    from weighed
  ), taken as (
    select id, bytes <= 4194304 as fits from summed
    where bytes <= 4194304 or place = 1
  )
  select string_agg(
      case when taken.fits then coalesce(jobs.id::text, '') || ',' || coalesce('"' || replace(case when tasks.identifier ~ '^[-=+@\t\r]' then '''' || tasks.identifier else tasks.identifier end, '"', '""') || '"', '') || ',' || coalesce('"' || replace(case when queues.queue_name ~ '^[-=+@\t\r]' then '''' || queues.queue_name else queues.queue_name end, '"', '""') || '"', '') || ',' || coalesce('"' || replace(jobs.payload::text, '"', '""') || '"', '') || ',' || coalesce(jobs.priority::text, '') || ',' || coalesce(case
      when jobs.run_at >= timestamptz '10000-01-01 00:00:00+00' then '9999-12-31T23:59:59.999Z'
      when jobs.run_at < timestamptz '0001-01-01 00:00:00+00' then '0001-01-01T00:00:00.000Z'
      else to_char(jobs.run_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')
    end, '') || ',' || coalesce(jobs.attempts::text, '') || ',' || coalesce(jobs.max_attempts::text, '') || ',' || coalesce('"' || replace(case when jobs.last_error ~ '^[-=+@\t\r]' then '''' || jobs.last_error else jobs.last_error end, '"', '""') || '"', '') || ',' || coalesce(case
      when jobs.created_at >= timestamptz '10000-01-01 00:00:00+00' then '9999-12-31T23:59:59.999Z'
      when jobs.created_at < timestamptz '0001-01-01 00:00:00+00' then '0001-01-01T00:00:00.000Z'
      else to_char(jobs.created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')
    end, '') || ',' || coalesce(case
      when jobs.updated_at >= timestamptz '10000-01-01 00:00:00+00' then '9999-12-31T23:59:59.999Z'
      when jobs.updated_at < timestamptz '0001-01-01 00:00:00+00' then '0001-01-01T00:00:00.000Z'
      else to_char(jobs.updated_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')
    end, '') || ',' || coalesce('"' || replace(case when jobs.key ~ '^[-=+@\t\r]' then '''' || jobs.key else jobs.key end, '"', '""') || '"', '') || ',' || coalesce(case
      when jobs.locked_at >= timestamptz '10000-01-01 00:00:00+00' then '9999-12-31T23:59:59.999Z'
      when jobs.locked_at < timestamptz '0001-01-01 00:00:00+00' then '0001-01-01T00:00:00.000Z'
      else to_char(jobs.locked_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')
    end, '') || ',' || coalesce('"' || replace(case when jobs.locked_by ~ '^[-=+@\t\r]' then '''' || jobs.locked_by else jobs.locked_by end, '"', '""') || '"', '') || ',' || coalesce(jobs.revision::text, '') || ',' || coalesce('"' || replace(jobs.flags::text, '"', '""') || '"', '') || ',' || coalesce((jobs.is_available)::text, '') || ',' || coalesce(case when (case
    when jobs.locked_at is not null then 'locked'
    when jobs.attempts >= jobs.max_attempts then 'failed'
    when jobs.run_at > now() then 'scheduled'
    else 'ready'
  end) ~ '^[-=+@\t\r]' then '''' || (case
    when jobs.locked_at is not null then 'locked'
    when jobs.attempts >= jobs.max_attempts then 'failed'
    when jobs.run_at > now() then 'scheduled'
    else 'ready'
  end) else (case
    when jobs.locked_at is not null then 'locked'
    when jobs.attempts >= jobs.max_attempts then 'failed'
    when jobs.run_at > now() then 'scheduled'
    else 'ready'
  end) end, '') || $2::text end,
      '' order by jobs.id
    ) as lines,
    count(*) as count, max(jobs.id) as last
  from taken
  join "worker"._private_jobs as jobs on jobs.id = taken.id
  
  left join "worker"._private_tasks as tasks on tasks.id = jobs.task_id
  left join "worker"._private_job_queues as queues on queues.id = jobs.job_queue_id;

  select coalesce(jobs.id::text, '') || ',' || coalesce('"' || replace(case when tasks.identifier ~ '^[-=+@\t\r]' then '''' || tasks.identifier else tasks.identifier end, '"', '""') || '"', '') || ',' || coalesce('"' || replace(case when queues.queue_name ~ '^[-=+@\t\r]' then '''' || queues.queue_name else queues.queue_name end, '"', '""') || '"', '') || ',' || coalesce('"' || replace('payload', '"', '""') || '"', '') || ',' || coalesce(jobs.priority::text, '') || ',' || coalesce(case
      when jobs.run_at >= timestamptz '10000-01-01 00:00:00+00' then '9999-12-31T23:59:59.999Z'
      when jobs.run_at < timestamptz '0001-01-01 00:00:00+00' then '0001-01-01T00:00:00.000Z'
      else to_char(jobs.run_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')
    end, '') || ',' || coalesce(jobs.attempts::text, '') || ',' || coalesce(jobs.max_attempts::text, '') || ',' || coalesce('"' || replace(case when jobs.last_error ~ '^[-=+@\t\r]' then '''' || jobs.last_error else jobs.last_error end, '"', '""') || '"', '') || ',' || coalesce(case
      when jobs.created_at >= timestamptz '10000-01-01 00:00:00+00' then '9999-12-31T23:59:59.999Z'
      when jobs.created_at < timestamptz '0001-01-01 00:00:00+00' then '0001-01-01T00:00:00.000Z'
      else to_char(jobs.created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')
    end, '') || ',' || coalesce(case
      when jobs.updated_at >= timestamptz '10000-01-01 00:00:00+00' then '9999-12-31T23:59:59.999Z'
      when jobs.updated_at < timestamptz '0001-01-01 00:00:00+00' then '0001-01-01T00:00:00.000Z'
      else to_char(jobs.updated_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')
    end, '') || ',' || coalesce('"' || replace(case when jobs.key ~ '^[-=+@\t\r]' then '''' || jobs.key else jobs.key end, '"', '""') || '"', '') || ',' || coalesce(case
      when jobs.locked_at >= timestamptz '10000-01-01 00:00:00+00' then '9999-12-31T23:59:59.999Z'
      when jobs.locked_at < timestamptz '0001-01-01 00:00:00+00' then '0001-01-01T00:00:00.000Z'
      else to_char(jobs.locked_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')
    end, '') || ',' || coalesce('"' || replace(case when jobs.locked_by ~ '^[-=+@\t\r]' then '''' || jobs.locked_by else jobs.locked_by end, '"', '""') || '"', '') || ',' || coalesce(jobs.revision::text, '') || ',' || coalesce('"' || replace(jobs.flags::text, '"', '""') || '"', '') || ',' || coalesce((jobs.is_available)::text, '') || ',' || coalesce(case when (case
    when jobs.locked_at is not null then 'locked'
    when jobs.attempts >= jobs.max_attempts then 'failed'
    when jobs.run_at > now() then 'scheduled'
    else 'ready'
  end) ~ '^[-=+@\t\r]' then '''' || (case
    when jobs.locked_at is not null then 'locked'
    when jobs.attempts >= jobs.max_attempts then 'failed'
    when jobs.run_at > now() then 'scheduled'
    else 'ready'
  end) else (case
    when jobs.locked_at is not null then 'locked'
    when jobs.attempts >= jobs.max_attempts then 'failed'
    when jobs.run_at > now() then 'scheduled'
    else 'ready'
  end) end, '') as line
  from "worker"._private_jobs as jobs
  
  left join "worker"._private_tasks as tasks on tasks.id = jobs.task_id
  left join "worker"._private_job_queues as queues on queues.id = jobs.job_queue_id
  where jobs.id = $1::bigint;

  select octet_length(json_send(jobs.payload)) as bytes, jobs.xmin::text as version,
    md5(json_send(jobs.payload)) as digest
  from "worker"._private_jobs as jobs
  where jobs.id = $1::bigint
