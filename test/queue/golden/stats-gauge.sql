  with locked as materialized (
    select id, case when not coalesce(pg_catalog.left(queues.locked_by, 8) like any (array['paused:%', 'managed:%']), false) then pg_catalog.left(queues.locked_by, 1024) end as locked_by from "worker"._private_job_queues as queues
    where queues.locked_at is not null and not coalesce(pg_catalog.left(queues.locked_by, 8) like 'managed:%', false) limit 10000
  )
  select
    pg_catalog.floor(extract(epoch from pg_catalog.now()) * 1000::numeric) as now_ms,
    pg_catalog.pg_relation_size(jobs.oid) / pg_catalog.current_setting('block_size')::int as pages,
    (select reltuples::float8 / relpages::float8 from pg_catalog.pg_class
      where oid = jobs.oid and reltuples::float8 >= 0::float8 and relpages > 0) as jobs_per_page,
    pg_catalog.pg_relation_filenode(jobs.oid)::text as file_node,
    pg_catalog.pg_stat_get_tuples_inserted(jobs.oid) as inserted,
    pg_catalog.pg_stat_get_tuples_updated(jobs.oid) as updated,
    pg_catalog.pg_stat_get_tuples_deleted(jobs.oid) as deleted,
    (select pg_catalog.count(*) from "worker"._private_job_queues) as queues,
    (select coalesce(pg_catalog.json_agg(id), '[]')::text from locked) as locked_ids,
    (select coalesce(pg_catalog.json_object_agg(locked_by, held), '{}')::text from (
      select locked_by, pg_catalog.count(*) as held from locked where locked_by is not null
      group by locked_by limit 1000
    ) as holders) as holders,
    coalesce(pg_catalog.has_table_privilege(pg_catalog.to_regclass($2::text), 'select'), false) as has_heartbeats
  from (select $1::text::regclass::oid as oid) as jobs
