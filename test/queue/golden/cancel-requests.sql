select
  (select coalesce(pg_catalog.json_agg(pg_catalog.json_build_array(
      requests.job_id::text, requests.reason, requests.requested_by)), '[]')::text
    from "worker"._private_cancellations as requests
    join "worker"._private_jobs as jobs on jobs.id = requests.job_id
    where requests.job_id = any($1::bigint[]) and not (jobs.updated_at > requests.requested_at
    and jobs.attempts <= case when jobs.locked_at is null then 0 else 1 end)) as found,
  exists (
    select from "worker"._private_cancellations as requests
    left join "worker"._private_jobs as jobs on jobs.id = requests.job_id
    where jobs.locked_at is null or jobs.updated_at > requests.requested_at
    and jobs.attempts <= case when jobs.locked_at is null then 0 else 1 end) as has_over
