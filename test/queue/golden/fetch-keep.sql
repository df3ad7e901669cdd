with kept as (
  update "worker"._private_jobs j set attempts = j.attempts + 1, locked_by = $1::text, locked_at = pg_catalog.now()
  where j.id = any($2::bigint[]) returning j.job_queue_id
)
update "worker"._private_job_queues set locked_by = $1::text, locked_at = pg_catalog.now()
where id in (select job_queue_id from kept)
