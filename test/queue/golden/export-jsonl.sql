select pg_catalog.floor(extract(epoch from pg_catalog.now()) * 1000000::numeric)::text as us;

  select pg_catalog.max(jobs.id) as id from "worker"._private_jobs as jobs;

  select last::text, rows::text, coalesce(pg_catalog.array_length(ids, 1), 0) as matched,
    pg_catalog.array_to_string(ids[$3::int + 1 : $3::int + $4::int], ',') as ids
  from (
    select pg_catalog.max(id) as last, pg_catalog.count(*) as rows,
      pg_catalog.array_agg(id) filter (where is_match) as ids
    from (
      select jobs.id, ((true) and ((pg_catalog.strpos(jobs.payload::text collate "C", $5::text) > 0 or (pg_catalog.strpos(jobs.payload::text collate "C", pg_catalog.chr(92)) > 0 and pg_catalog.strpos(jobs.payload::text collate "C", pg_catalog.chr(92) || 'u') > 0))
    and (jobs.id <= $6::bigint))) as is_match
      from "worker"._private_jobs as jobs
      where jobs.id > $1::bigint
      order by jobs.id asc
      limit $2::bigint
    ) as scanned
  ) as chunk;

  select texts.id, not texts.fits as is_large,
    case when texts.fits then null::text end as marks,
    case when texts.fits then jobs.payload::text end as payload,
    case when texts.fits then jobs.last_error end as last_error
  from (
    select jobs.id, (pg_catalog.pg_column_size(jobs.payload)::bigint * case pg_catalog.pg_column_compression(jobs.payload)
      when 'lz4' then 255 when 'pglz' then 90 else 1 end + coalesce(pg_catalog.octet_length(jobs.last_error), 0) <= 524288::bigint) as fits
    from "worker"._private_jobs as jobs
    where jobs.id = any($1::bigint[])
    offset 0
  ) as texts
  join "worker"._private_jobs as jobs on jobs.id = texts.id
  where true or (pg_catalog.strpos(jobs.payload::text collate "C", $2::text) > 0 or (pg_catalog.strpos(jobs.payload::text collate "C", pg_catalog.chr(92)) > 0 and pg_catalog.strpos(jobs.payload::text collate "C", pg_catalog.chr(92) || 'u') > 0));

  select pg_catalog.string_agg(((((('{"id":' || jobs.id::text) || (',"task_identifier":' || coalesce(pg_catalog.to_json(tasks.identifier)::text, 'null'))) || ((',"queue_name":' || coalesce(pg_catalog.to_json(queues.queue_name)::text, 'null')) || (',"payload":' || (coalesce(pg_catalog.replace(pg_catalog.replace((jobs.payload::text) collate "C", pg_catalog.chr(10), ' '), pg_catalog.chr(13), ' '), 'null') || ',"priority":')))) || (((jobs.priority::text || ',"run_at":"') || (case
      when jobs.run_at >= timestamptz '10000-01-01 00:00:00+00' then '9999-12-31T23:59:59.999Z'
      when jobs.run_at < timestamptz '0001-01-01 00:00:00+00' then '0001-01-01T00:00:00.000Z'
      else pg_catalog.to_char(jobs.run_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')
    end || '","attempts":')) || ((jobs.attempts::text || ',"max_attempts":') || (jobs.max_attempts::text || (',"last_error":' || coalesce(pg_catalog.to_json(jobs.last_error)::text, 'null')))))) || ((((',"created_at":"' || case
      when jobs.created_at >= timestamptz '10000-01-01 00:00:00+00' then '9999-12-31T23:59:59.999Z'
      when jobs.created_at < timestamptz '0001-01-01 00:00:00+00' then '0001-01-01T00:00:00.000Z'
      else pg_catalog.to_char(jobs.created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')
    end) || ('","updated_at":"' || case
      when jobs.updated_at >= timestamptz '10000-01-01 00:00:00+00' then '9999-12-31T23:59:59.999Z'
      when jobs.updated_at < timestamptz '0001-01-01 00:00:00+00' then '0001-01-01T00:00:00.000Z'
      else pg_catalog.to_char(jobs.updated_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')
    end)) || (('","key":' || coalesce(pg_catalog.to_json(jobs.key)::text, 'null')) || (',"locked_at":' || (coalesce('"' || case
      when jobs.locked_at >= timestamptz '10000-01-01 00:00:00+00' then '9999-12-31T23:59:59.999Z'
      when jobs.locked_at < timestamptz '0001-01-01 00:00:00+00' then '0001-01-01T00:00:00.000Z'
      else pg_catalog.to_char(jobs.locked_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')
    end || '"', 'null') || ',"locked_by":')))) || (((coalesce(pg_catalog.to_json(jobs.locked_by)::text, 'null') || ',"revision":') || (jobs.revision::text || (',"flags":' || coalesce(pg_catalog.replace(pg_catalog.replace((jobs.flags::text) collate "C", pg_catalog.chr(10), ' '), pg_catalog.chr(13), ' '), 'null')))) || ((',"is_available":' || jobs.is_available::text) || (',"state":"' || (case
    when jobs.locked_at is not null then 'locked'
    when jobs.attempts >= jobs.max_attempts then 'failed'
    when jobs.run_at > pg_catalog.now() then 'scheduled'
    else 'ready'
  end || e'"}\n')))))), '' order by jobs.id) filter (where jobs.fits) as lines,
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
          * case when pg_catalog.pg_column_compression(jobs.payload) is not null then $3::float8 else 1::float8 end
          + coalesce(pg_catalog.octet_length(jobs.last_error), 0)::float8
          + coalesce(pg_catalog.pg_column_size(jobs.flags)::bigint * case pg_catalog.pg_column_compression(jobs.flags)
      when 'lz4' then 255 when 'pglz' then 90 else 1 end, 0)::float8 + 500::float8) as bytes
        from "worker"._private_jobs as jobs
        where jobs.id = any($2::bigint[])
        order by jobs.id
        limit $1::bigint
      ) as jobs
    ) as weighed
  ) as jobs
  
  left join "worker"._private_tasks as tasks on tasks.id = jobs.task_id
  left join "worker"._private_job_queues as queues on queues.id = jobs.job_queue_id;

  select ((((('{"id":' || jobs.id::text) || (',"task_identifier":' || coalesce(pg_catalog.to_json(tasks.identifier)::text, 'null'))) || ((',"queue_name":' || coalesce(pg_catalog.to_json(queues.queue_name)::text, 'null')) || (',"payload":' || ($2::text || ',"priority":')))) || (((jobs.priority::text || ',"run_at":"') || (case
      when jobs.run_at >= timestamptz '10000-01-01 00:00:00+00' then '9999-12-31T23:59:59.999Z'
      when jobs.run_at < timestamptz '0001-01-01 00:00:00+00' then '0001-01-01T00:00:00.000Z'
      else pg_catalog.to_char(jobs.run_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')
    end || '","attempts":')) || ((jobs.attempts::text || ',"max_attempts":') || (jobs.max_attempts::text || (',"last_error":' || coalesce(pg_catalog.to_json(jobs.last_error)::text, 'null')))))) || ((((',"created_at":"' || case
      when jobs.created_at >= timestamptz '10000-01-01 00:00:00+00' then '9999-12-31T23:59:59.999Z'
      when jobs.created_at < timestamptz '0001-01-01 00:00:00+00' then '0001-01-01T00:00:00.000Z'
      else pg_catalog.to_char(jobs.created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')
    end) || ('","updated_at":"' || case
      when jobs.updated_at >= timestamptz '10000-01-01 00:00:00+00' then '9999-12-31T23:59:59.999Z'
      when jobs.updated_at < timestamptz '0001-01-01 00:00:00+00' then '0001-01-01T00:00:00.000Z'
      else pg_catalog.to_char(jobs.updated_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')
    end)) || (('","key":' || coalesce(pg_catalog.to_json(jobs.key)::text, 'null')) || (',"locked_at":' || (coalesce('"' || case
      when jobs.locked_at >= timestamptz '10000-01-01 00:00:00+00' then '9999-12-31T23:59:59.999Z'
      when jobs.locked_at < timestamptz '0001-01-01 00:00:00+00' then '0001-01-01T00:00:00.000Z'
      else pg_catalog.to_char(jobs.locked_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')
    end || '"', 'null') || ',"locked_by":')))) || (((coalesce(pg_catalog.to_json(jobs.locked_by)::text, 'null') || ',"revision":') || (jobs.revision::text || (',"flags":' || coalesce(pg_catalog.replace(pg_catalog.replace((jobs.flags::text) collate "C", pg_catalog.chr(10), ' '), pg_catalog.chr(13), ' '), 'null')))) || ((',"is_available":' || jobs.is_available::text) || (',"state":"' || (case
    when jobs.locked_at is not null then 'locked'
    when jobs.attempts >= jobs.max_attempts then 'failed'
    when jobs.run_at > pg_catalog.now() then 'scheduled'
    else 'ready'
  end || e'"}\n')))))) as line
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
