  select pg_catalog.max(jobs.id) as id from "worker"._private_jobs as jobs;

  select pg_catalog.string_agg((((((jobs.id::text || ',') || (coalesce('"' || pg_catalog.replace((case when pg_catalog.ascii(tasks.identifier) in (9, 13, 43, 45, 61, 64) then '''' || tasks.identifier else tasks.identifier end) collate "C", '"', '""') || '"', '') || ',')) || ((coalesce('"' || pg_catalog.replace((case when pg_catalog.ascii(queues.queue_name) in (9, 13, 43, 45, 61, 64) then '''' || queues.queue_name else queues.queue_name end) collate "C", '"', '""') || '"', '') || ',') || (coalesce('"' || pg_catalog.replace((jobs.payload::text) collate "C", '"', '""') || '"', '') || (',' || jobs.priority::text)))) || (((',' || case
      when jobs.run_at >= timestamptz '10000-01-01 00:00:00+00' then '9999-12-31T23:59:59.999Z'
      when jobs.run_at < timestamptz '0001-01-01 00:00:00+00' then '0001-01-01T00:00:00.000Z'
      else pg_catalog.to_char(jobs.run_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')
    end) || (',' || jobs.attempts::text)) || ((',' || jobs.max_attempts::text) || (',' || (coalesce('"' || pg_catalog.replace((case when pg_catalog.ascii(jobs.last_error) in (9, 13, 43, 45, 61, 64) then '''' || jobs.last_error else jobs.last_error end) collate "C", '"', '""') || '"', '') || ','))))) || ((((case
      when jobs.created_at >= timestamptz '10000-01-01 00:00:00+00' then '9999-12-31T23:59:59.999Z'
      when jobs.created_at < timestamptz '0001-01-01 00:00:00+00' then '0001-01-01T00:00:00.000Z'
      else pg_catalog.to_char(jobs.created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')
    end || ',') || (case
      when jobs.updated_at >= timestamptz '10000-01-01 00:00:00+00' then '9999-12-31T23:59:59.999Z'
      when jobs.updated_at < timestamptz '0001-01-01 00:00:00+00' then '0001-01-01T00:00:00.000Z'
      else pg_catalog.to_char(jobs.updated_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')
    end || ',')) || ((coalesce('"' || pg_catalog.replace((case when pg_catalog.ascii(jobs.key) in (9, 13, 43, 45, 61, 64) then '''' || jobs.key else jobs.key end) collate "C", '"', '""') || '"', '') || ',') || (coalesce(case
      when jobs.locked_at >= timestamptz '10000-01-01 00:00:00+00' then '9999-12-31T23:59:59.999Z'
      when jobs.locked_at < timestamptz '0001-01-01 00:00:00+00' then '0001-01-01T00:00:00.000Z'
      else pg_catalog.to_char(jobs.locked_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')
    end, '') || (',' || coalesce('"' || pg_catalog.replace((case when pg_catalog.ascii(jobs.locked_by) in (9, 13, 43, 45, 61, 64) then '''' || jobs.locked_by else jobs.locked_by end) collate "C", '"', '""') || '"', ''))))) || (((',' || jobs.revision::text) || (',' || coalesce('"' || pg_catalog.replace((jobs.flags::text) collate "C", '"', '""') || '"', ''))) || ((',' || jobs.is_available::text) || (',' || (case
    when jobs.locked_at is not null then 'locked'
    when jobs.attempts >= jobs.max_attempts then 'failed'
    when jobs.run_at > pg_catalog.now() then 'scheduled'
    else 'ready'
  end || e'\r\n')))))), '' order by jobs.id) filter (where jobs.fits) as lines,
    pg_catalog.count(*) filter (where jobs.fits) as count,
    pg_catalog.max(jobs.id) filter (where jobs.fits) as last,
    pg_catalog.min(jobs.id) as first
  from (
    select weighed.*, weighed.total <= 2097152::float8
      or (weighed.total = weighed.bytes and weighed.bytes <= 4194304::float8) as fits
    from (
      select jobs.*, pg_catalog.sum(jobs.bytes) over (order by jobs.id rows unbounded preceding) as total
      from (
        select jobs.*, ((pg_catalog.pg_column_size(jobs.payload)::bigint * case pg_catalog.pg_column_compression(jobs.payload)
      when 'lz4' then 255 when 'pglz' then 90 else 1 end)::float8
          * case when pg_catalog.pg_column_compression(jobs.payload) is not null then $4::float8 else 1::float8 end
          + coalesce(pg_catalog.octet_length(jobs.last_error), 0)::float8
          + coalesce(pg_catalog.pg_column_size(jobs.flags)::bigint * case pg_catalog.pg_column_compression(jobs.flags)
      when 'lz4' then 255 when 'pglz' then 90 else 1 end, 0)::float8 + 500::float8) as bytes
        from "worker"._private_jobs as jobs
        where jobs.id > $2::bigint and jobs.id <= $3::bigint
        order by jobs.id
        limit $1::bigint
      ) as jobs
    ) as weighed
  ) as jobs
  
  left join "worker"._private_tasks as tasks on tasks.id = jobs.task_id
  left join "worker"._private_job_queues as queues on queues.id = jobs.job_queue_id;

  select (((((jobs.id::text || ',') || (coalesce('"' || pg_catalog.replace((case when pg_catalog.ascii(tasks.identifier) in (9, 13, 43, 45, 61, 64) then '''' || tasks.identifier else tasks.identifier end) collate "C", '"', '""') || '"', '') || ',')) || ((coalesce('"' || pg_catalog.replace((case when pg_catalog.ascii(queues.queue_name) in (9, 13, 43, 45, 61, 64) then '''' || queues.queue_name else queues.queue_name end) collate "C", '"', '""') || '"', '') || ',') || (coalesce('"' || pg_catalog.replace(($2::text) collate "C", '"', '""') || '"', '') || (',' || jobs.priority::text)))) || (((',' || case
      when jobs.run_at >= timestamptz '10000-01-01 00:00:00+00' then '9999-12-31T23:59:59.999Z'
      when jobs.run_at < timestamptz '0001-01-01 00:00:00+00' then '0001-01-01T00:00:00.000Z'
      else pg_catalog.to_char(jobs.run_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')
    end) || (',' || jobs.attempts::text)) || ((',' || jobs.max_attempts::text) || (',' || (coalesce('"' || pg_catalog.replace((case when pg_catalog.ascii(jobs.last_error) in (9, 13, 43, 45, 61, 64) then '''' || jobs.last_error else jobs.last_error end) collate "C", '"', '""') || '"', '') || ','))))) || ((((case
      when jobs.created_at >= timestamptz '10000-01-01 00:00:00+00' then '9999-12-31T23:59:59.999Z'
      when jobs.created_at < timestamptz '0001-01-01 00:00:00+00' then '0001-01-01T00:00:00.000Z'
      else pg_catalog.to_char(jobs.created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')
    end || ',') || (case
      when jobs.updated_at >= timestamptz '10000-01-01 00:00:00+00' then '9999-12-31T23:59:59.999Z'
      when jobs.updated_at < timestamptz '0001-01-01 00:00:00+00' then '0001-01-01T00:00:00.000Z'
      else pg_catalog.to_char(jobs.updated_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')
    end || ',')) || ((coalesce('"' || pg_catalog.replace((case when pg_catalog.ascii(jobs.key) in (9, 13, 43, 45, 61, 64) then '''' || jobs.key else jobs.key end) collate "C", '"', '""') || '"', '') || ',') || (coalesce(case
      when jobs.locked_at >= timestamptz '10000-01-01 00:00:00+00' then '9999-12-31T23:59:59.999Z'
      when jobs.locked_at < timestamptz '0001-01-01 00:00:00+00' then '0001-01-01T00:00:00.000Z'
      else pg_catalog.to_char(jobs.locked_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')
    end, '') || (',' || coalesce('"' || pg_catalog.replace((case when pg_catalog.ascii(jobs.locked_by) in (9, 13, 43, 45, 61, 64) then '''' || jobs.locked_by else jobs.locked_by end) collate "C", '"', '""') || '"', ''))))) || (((',' || jobs.revision::text) || (',' || coalesce('"' || pg_catalog.replace((jobs.flags::text) collate "C", '"', '""') || '"', ''))) || ((',' || jobs.is_available::text) || (',' || (case
    when jobs.locked_at is not null then 'locked'
    when jobs.attempts >= jobs.max_attempts then 'failed'
    when jobs.run_at > pg_catalog.now() then 'scheduled'
    else 'ready'
  end || e'\r\n')))))) as line
  from "worker"._private_jobs as jobs
  
  left join "worker"._private_tasks as tasks on tasks.id = jobs.task_id
  left join "worker"._private_job_queues as queues on queues.id = jobs.job_queue_id
  where jobs.id = $1::bigint;

  select pg_catalog.octet_length(whole.payload) as bytes, whole.version, pg_catalog.md5(whole.payload) as digest
  from (
    select pg_catalog.json_send(jobs.payload) as payload, jobs.xmin::text as version
    from "worker"._private_jobs as jobs
    where jobs.id = $1::bigint
    offset 0
  ) as whole
