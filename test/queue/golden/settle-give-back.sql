with held as materialized (
  select j.id from "worker"._private_jobs j
  where j.id = any($2::bigint[]) and j.locked_by = $1::text order by j.id for update
), returned as (
  update "worker"._private_jobs j set attempts = greatest(0, j.attempts - 1), locked_by = null, locked_at = null
  from held where j.id = held.id returning j.id
), freed as (
  update "worker"._private_job_queues set locked_by = null, locked_at = null where id = any($3::int[]) and locked_by = $1::text
)
select case when (select pg_catalog.count(*) from returned) < pg_catalog.cardinality($2::bigint[]) then
    array(select pg_catalog.unnest($2::bigint[]) except select id from returned)::text end as lost
