select coalesce(pg_catalog.has_table_privilege(pg_catalog.to_regclass($1::text), 'select'), false) as is_there;

with over as materialized (
  select requests.job_id, jobs.id is null as is_gone, coalesce(jobs.updated_at > requests.requested_at
    and case when jobs.locked_at is null then jobs.attempts = 0
      else jobs.attempts <= 1 and jobs.locked_at > requests.requested_at end, false) as is_void,
    'cancelled'::text || coalesce(': '::text || pg_catalog.left(requests.reason, 2000), ''::text) as message
  from "worker"._private_cancellations as requests
  left join "worker"._private_jobs as jobs on jobs.id = requests.job_id
  where jobs.locked_at is null or jobs.updated_at > requests.requested_at
    and case when jobs.locked_at is null then jobs.attempts = 0
      else jobs.attempts <= 1 and jobs.locked_at > requests.requested_at end
  order by requests.job_id limit 1000
), free as materialized (
  select jobs.id from "worker"._private_jobs as jobs
  where jobs.id = any(array(select job_id from over where not is_gone and not is_void)) and jobs.locked_at is null
  order by jobs.id for update skip locked
), failed as (
  update "worker"._private_jobs as jobs
  set attempts = jobs.max_attempts, last_error = over.message, updated_at = pg_catalog.now()
  from over
  where jobs.id = over.job_id and jobs.id in (select id from free)
  and (jobs.attempts < jobs.max_attempts or jobs.last_error like 'Recovered%')
), ended as (
  delete from "worker"._private_cancellations as requests
  using over
  where requests.job_id = over.job_id and (over.is_gone or over.is_void or over.job_id in (select id from free))
  returning 1
)
select pg_catalog.count(*)::int as ended from ended;

select requested.id::text as id, jobs.id is not null as is_there,
  coalesce(jobs.locked_at is null and jobs.attempts >= jobs.max_attempts, false)
    and not exists (select from "worker"._private_cancellations as requests where requests.job_id = jobs.id) as is_over,
  pg_catalog.left(jobs.last_error, 20) as error
from pg_catalog.unnest($1::bigint[]) with ordinality as requested (id, place)
left join "worker"._private_jobs as jobs on jobs.id = requested.id
order by requested.place
