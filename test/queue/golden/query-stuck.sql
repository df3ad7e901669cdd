select pg_catalog.floor(extract(epoch from pg_catalog.now()) * 1000000::numeric)::text as us;

select coalesce(pg_catalog.has_table_privilege(pg_catalog.to_regclass($1::text), 'select'), false) as present;

  select id, ((extract(epoch from pg_catalog.now())::float8 - extract(epoch from workers.last_heartbeat_at)::float8) * 1000::float8) > case when pg_catalog.jsonb_typeof(workers.metadata -> 'threshold_ms'::text) = 'number'
      and pg_catalog.length(workers.metadata ->> 'threshold_ms'::text) <= 25
      then greatest((workers.metadata ->> 'threshold_ms'::text)::float8, null::float8)
      else coalesce(null::float8, 300000) end as is_silent
  from "worker"._private_workers as workers
  order by last_heartbeat_at desc
  limit 10000;

  select array(
    select queues.id from "worker"._private_job_queues as queues
    where not queues.is_available
    and queues.locked_at is not null and (queues.locked_by = any($1::text[])
    or queues.locked_at < $3::timestamptz and (queues.locked_by = any($2::text[])) is not true)
    order by queues.id
  )::text as ids;

-- is:stuck or running>10m worker:host*
select jobs.id, null::text as marks
from "worker"._private_jobs as jobs
where jobs.id > $1::bigint
and (((jobs.locked_at is not null and (jobs.locked_by = any($2::text[])
    or jobs.locked_at < $3::text::timestamptz and (jobs.locked_by = any($4::text[])) is not true)) or (jobs.is_available and jobs.run_at <= $5::text::timestamptz and jobs.job_queue_id = any($6::int[]))) or ((jobs.locked_at is not null and not jobs.is_available and jobs.locked_at < $7::text::timestamptz) and ((jobs.locked_at is not null and not jobs.is_available) and (pg_catalog.starts_with(jobs.locked_by collate "C", $8::text)))))
order by jobs.id
