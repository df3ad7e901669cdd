select coalesce(pg_catalog.has_table_privilege(pg_catalog.to_regclass($1::text), 'select'), false) as is_there;

  select pg_catalog.floor(extract(epoch from pg_catalog.now()) * 1000000::numeric) as now_us, null as id, false as is_found, false as is_stale;

  select pg_catalog.pg_relation_size(pg_catalog.to_regclass($1::text)) / pg_catalog.current_setting('block_size')::int
    <= 4096 as is_small;

  select locked_by as worker_id,
    pg_catalog.count(*) filter (where is_job)::int as jobs,
    pg_catalog.count(*) filter (where not is_job)::int as queues,
    pg_catalog.floor(extract(epoch from pg_catalog.min(locked_at)) * 1000000::numeric) as oldest_us
  from (
    select pg_catalog.left(queues.locked_by, 1024) as locked_by, locked_at, false as is_job
    from "worker"._private_job_queues as queues
    where locked_by is not null and queues.locked_at is not null and not coalesce(pg_catalog.left(queues.locked_by, 8) like any (array['paused:%', 'managed:%']), false)
  ) as locks
  group by locked_by
  limit 10000
