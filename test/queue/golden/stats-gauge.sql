  with locked as materialized (
    select id, locked_by from "worker"._private_job_queues where locked_at is not null limit 10000
  )
  select
    floor(extract(epoch from now()) * 1000) as now_ms,
    pg_relation_size(jobs.oid) / current_setting('block_size')::int as pages,
    (select reltuples / relpages from pg_class
      where oid = jobs.oid and reltuples >= 0 and relpages > 0) as jobs_per_page,
    pg_relation_filenode(jobs.oid)::text as file_node,
    pg_stat_get_tuples_inserted(jobs.oid) as inserted,
    pg_stat_get_tuples_updated(jobs.oid) as updated,
    pg_stat_get_tuples_deleted(jobs.oid) as deleted,
    (select count(*) from "worker"._private_job_queues) as queues,
    (select coalesce(json_agg(id), '[]')::text from locked) as locked_ids,
    (select coalesce(json_object_agg(locked_by, held), '{}')::text from (
      select locked_by, count(*) as held from locked where locked_by is not null
      group by locked_by limit 1000
    ) as holders) as holders
  from (select $1::text::regclass::oid as oid) as jobs
