  select id, pg_catalog.left(jobs.locked_by, 1024) as locked_by, coalesce((attempts >= 2 and (last_error is null and jobs.updated_at <= jobs.created_at
      and (locked_at is not null or attempts < max_attempts)
      or pg_catalog.octet_length(last_error) <= 1500::int
        and pg_catalog.left(last_error, 40) like 'Recovered % times in a row: %')), false) as is_candidate,
    jobs.locked_at is null and jobs.attempts >= jobs.max_attempts and not jobs.is_available as has_failed
  from "worker"._private_jobs as jobs
  where ctid >= $1::tid and ctid < $2::tid and (locked_at is not null or (attempts >= 2 and (last_error is null and jobs.updated_at <= jobs.created_at
      and (locked_at is not null or attempts < max_attempts)
      or pg_catalog.octet_length(last_error) <= 1500::int
        and pg_catalog.left(last_error, 40) like 'Recovered % times in a row: %')))
  limit $3::int;

  select jobs.id, tasks.identifier as task, jobs.attempts, jobs.max_attempts,
    pg_catalog.left(jobs.last_error, 400::int) as error_start, jobs.locked_at is not null as is_locked,
    jobs.locked_at is null and jobs.attempts >= jobs.max_attempts and not jobs.is_available as has_failed, jobs.updated_at <= jobs.created_at as is_unchanged,
    pg_catalog.floor(extract(epoch from jobs.run_at) * 1000000::numeric) as run_at_us, pg_catalog.floor(extract(epoch from jobs.created_at) * 1000000::numeric) as created_us,
    pg_catalog.floor(extract(epoch from jobs.updated_at) * 1000000::numeric) as updated_us, pg_catalog.left(jobs.locked_by, 1024) as locked_by,
    (case when pg_catalog.pg_column_size(jobs.payload)::bigint * case pg_catalog.pg_column_compression(jobs.payload)
      when 'lz4' then 255 when 'pglz' then 90 else 1 end <= 2048 then jobs.payload end)::text as payload
  from "worker"._private_jobs as jobs
  left join "worker"._private_tasks as tasks on tasks.id = jobs.task_id
  where jobs.id = any($1::bigint[])
  order by jobs.id
