select coalesce(pg_catalog.has_table_privilege(pg_catalog.to_regclass($1::text), 'select'), false) as present;

  
  select queues.id, queues.queue_name, pg_catalog.left(queues.locked_by, 1024) as locked_by,
    pg_catalog.floor(extract(epoch from queues.locked_at) * 1000000::numeric)::text as locked_at_us,
    case when queues.locked_at is not null then 'unknown' end as holder,
    pg_catalog.floor(extract(epoch from case when queues.locked_at < pg_catalog.now() - 14400000::float8 * interval '1 millisecond' then queues.locked_at end) * 1000000::numeric)::text as stuck_since_us
  from "worker"._private_job_queues as queues
  
  where queues.locked_by = $1::text and queues.locked_at is not null
  order by queues.locked_at, queues.id
  limit $2::int
