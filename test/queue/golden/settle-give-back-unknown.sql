with held as materialized (
  select j.id, j.key is null and j.attempts >= j.max_attempts and j.updated_at >= j.locked_at as is_removed from "worker"._private_jobs j
  where not j.is_available and j.id <> all($2::bigint[]) and j.locked_by = $1::text order by j.id for update
), removed as (
  delete from "worker"._private_jobs j using held where j.id = held.id and held.is_removed returning j.id
), returned as (
  update "worker"._private_jobs j set attempts = greatest(0, j.attempts - 1), locked_by = null, locked_at = null
  from held where j.id = held.id and not held.is_removed returning j.id
), ended as (select id from returned union all select id from removed), freed as (
  update "worker"._private_job_queues set locked_by = null, locked_at = null where locked_by = $1::text and id <> all($3::int[])
)
select pg_catalog.count(*)::int as count from ended
