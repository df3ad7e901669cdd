select
  (select coalesce(pg_catalog.json_agg(pg_catalog.json_build_array(
      requests.job_id::text, pg_catalog.left(requests.reason, 2000), pg_catalog.left(requests.requested_by, 512))), '[]')::text
    from "worker"._private_cancellations as requests
    join "worker"._private_jobs as jobs on jobs.id = requests.job_id
    where requests.job_id = any($1::bigint[]) and not (jobs.updated_at > requests.requested_at
    and case when jobs.locked_at is null then jobs.attempts = 0
      else jobs.attempts <= 1 and jobs.locked_at > requests.requested_at end)) as found,
  exists (
    select from "worker"._private_cancellations as requests
    left join "worker"._private_jobs as jobs on jobs.id = requests.job_id
    where jobs.locked_at is null or jobs.updated_at > requests.requested_at
    and case when jobs.locked_at is null then jobs.attempts = 0
      else jobs.attempts <= 1 and jobs.locked_at > requests.requested_at end) as has_over
