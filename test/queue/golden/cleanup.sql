select pg_catalog.pg_current_xact_id()::text as id;

select coalesce(pg_catalog.has_table_privilege(pg_catalog.to_regclass($1::text), 'delete'), false) as may_delete;

  with failed as materialized (
    select jobs.id
    from "worker"._private_jobs as jobs
    where jobs.id > $1::bigint and jobs.locked_at is null and jobs.attempts >= jobs.max_attempts and not jobs.is_available
    order by jobs.id
    limit $2::int
    for update skip locked
  ), deleted as (
    delete from "worker"._private_jobs as jobs
    using failed
    where jobs.id = failed.id
    returning jobs.id
  )
  select (select pg_catalog.count(*)::text from deleted) as deleted,
    (select pg_catalog.max(id)::text from failed) as last;

select coalesce(pg_catalog.has_table_privilege(pg_catalog.to_regclass($1::text), 'select'), false) as is_there;

  with unused as materialized (
    select names.id
    from "worker"._private_tasks as names
    where names.id > $1::int
    and not exists (
      select from "worker"._private_jobs as jobs where jobs.task_id = names.id
    )
    and names.identifier <> all($3::text[]) and not exists (
      select from (
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
      where workers.is_cut or workers.metadata -> 'tasks_cut'::text = 'true'::jsonb
    ) and not exists (
      select from (
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
      cross join lateral pg_catalog.jsonb_array_elements_text(
        case when pg_catalog.jsonb_typeof(workers.metadata -> 'task_identifiers'::text) = 'array'
          then workers.metadata -> 'task_identifiers'::text else '[]'::jsonb end) as named (task)
      where named.task = names.identifier
    )
    order by names.id
    limit $2::int
  ), deleted as (
    delete from "worker"._private_tasks as names
    using unused
    where names.id = unused.id and names.identifier <> all($3::text[]) and not exists (
      select from (
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
      where workers.is_cut or workers.metadata -> 'tasks_cut'::text = 'true'::jsonb
    ) and not exists (
      select from (
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
      cross join lateral pg_catalog.jsonb_array_elements_text(
        case when pg_catalog.jsonb_typeof(workers.metadata -> 'task_identifiers'::text) = 'array'
          then workers.metadata -> 'task_identifiers'::text else '[]'::jsonb end) as named (task)
      where named.task = names.identifier
    )
    returning names.id, names.identifier as name
  )
  select unused.id, deleted.name
  from unused left join deleted on deleted.id = unused.id
  order by unused.id;

  select open.transaction from (
    select locks.virtualtransaction as transaction
    from pg_catalog.pg_locks as locks
    join pg_catalog.pg_stat_activity as sessions on sessions.pid = locks.pid
    where locks.locktype = 'virtualxid' and locks.mode = 'ExclusiveLock' and locks.granted
    and sessions.datname = pg_catalog.current_database() and sessions.pid <> pg_catalog.pg_backend_pid()
    and (sessions.backend_xid is not null or sessions.backend_xmin is not null)
    and not exists (select from pg_catalog.pg_stat_progress_vacuum as vacuum
      where vacuum.pid = coalesce(sessions.leader_pid, sessions.pid))
    union all
    select 'prepared ' || gid from pg_catalog.pg_prepared_xacts where database = pg_catalog.current_database()
  ) as open
  where $1::text[] is null or open.transaction = any($1::text[]);

  with lost as materialized (
    select deleted.id, deleted.name
    from rows from (pg_catalog.unnest($1::int[]), pg_catalog.unnest($2::text[])) as deleted (id, name)
    where not exists (
      select from "worker"._private_tasks as names where names.id = deleted.id and names.identifier = deleted.name
    )
  ), used as materialized (
    select distinct jobs.task_id as id
    from "worker"._private_jobs as jobs
    where not $3::boolean and exists (select from lost)
    and jobs.task_id = any(array(select id from lost))
  ), due as materialized (
    select id, name from lost where $3::boolean or id in (select id from used)
  ), back as (
    insert into "worker"._private_tasks (id, identifier) overriding system value
    select id, name from due order by name
    on conflict do nothing
    returning id
  ), total as (
    select (select pg_catalog.count(*)::int from back) as rows,
      (select pg_catalog.count(*)::int from due where id not in (select id from back)) as taken
  )
  select total.rows, total.taken, case when total.rows + total.taken > 0 then pg_catalog.pg_notify('jobs:insert', pg_catalog.format('{"r":%s,"count":%s}', pg_catalog.random(), 1)) end
  from total;

  update "worker"._private_jobs as jobs
  set task_id = names.id
  from rows from (pg_catalog.unnest($1::int[]), pg_catalog.unnest($2::text[])) as deleted (id, name)
  join "worker"._private_tasks as names on names.identifier = deleted.name
  where jobs.task_id = deleted.id and names.id <> deleted.id;

  with unused as materialized (
    select names.id
    from "worker"._private_job_queues as names
    where names.id > $1::int
    and not exists (
      select from "worker"._private_jobs as jobs where jobs.job_queue_id = names.id
    )
    and names.locked_at is null
    order by names.id
    limit $2::int
  ), deleted as (
    delete from "worker"._private_job_queues as names
    using unused
    where names.id = unused.id and names.locked_at is null
    returning names.id, names.queue_name as name
  )
  select unused.id, deleted.name
  from unused left join deleted on deleted.id = unused.id
  order by unused.id;

  with lost as materialized (
    select deleted.id, deleted.name
    from rows from (pg_catalog.unnest($1::int[]), pg_catalog.unnest($2::text[])) as deleted (id, name)
    where not exists (
      select from "worker"._private_job_queues as names where names.id = deleted.id and names.queue_name = deleted.name
    )
  ), used as materialized (
    select distinct jobs.job_queue_id as id
    from "worker"._private_jobs as jobs
    where not $3::boolean and exists (select from lost)
    and jobs.job_queue_id = any(array(select id from lost))
  ), due as materialized (
    select id, name from lost where $3::boolean or id in (select id from used)
  ), back as (
    insert into "worker"._private_job_queues (id, queue_name) overriding system value
    select id, name from due order by name
    on conflict do nothing
    returning id
  ), total as (
    select (select pg_catalog.count(*)::int from back) as rows,
      (select pg_catalog.count(*)::int from due where id not in (select id from back)) as taken
  )
  select total.rows, total.taken, case when total.rows + total.taken > 0 then pg_catalog.pg_notify('jobs:insert', pg_catalog.format('{"r":%s,"count":%s}', pg_catalog.random(), 1)) end
  from total;

  update "worker"._private_job_queues as queues
  set queue_name = deleted.name
  from rows from (pg_catalog.unnest($1::int[]), pg_catalog.unnest($2::text[])) as deleted (id, name)
  where queues.id = deleted.id and queues.queue_name = ('recovered-queue-' || deleted.id::text)
  and not exists (
    select from "worker"._private_job_queues as others where others.queue_name = deleted.name
  );

  update "worker"._private_jobs as jobs
  set job_queue_id = names.id
  from rows from (pg_catalog.unnest($1::int[]), pg_catalog.unnest($2::text[])) as deleted (id, name)
  join "worker"._private_job_queues as names on names.queue_name = deleted.name
  where jobs.job_queue_id = deleted.id and names.id <> deleted.id;

  with lost_queue as materialized (
    select jobs.job_queue_id as id, pg_catalog.count(*)::int as jobs
    from "worker"._private_jobs as jobs
    where jobs.job_queue_id is not null and not exists (
      select from "worker"._private_job_queues as queues where queues.id = jobs.job_queue_id
    )
    group by jobs.job_queue_id
    limit 10000
  ), back as (
    insert into "worker"._private_job_queues (id, queue_name) overriding system value
    select lost.id, ('recovered-queue-' || lost.id::text)
    from lost_queue as lost
    order by lost.id
    on conflict do nothing
    returning id
  ), total as (
    select pg_catalog.count(*)::int as rows from back
  )
  select total.rows, case when total.rows > 0 then pg_catalog.pg_notify('jobs:insert', pg_catalog.format('{"r":%s,"count":%s}', pg_catalog.random(), 1)) end
  from total
