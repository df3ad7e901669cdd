select coalesce(pg_catalog.has_table_privilege(pg_catalog.to_regclass($1::text), 'select'), false) as is_there;

with reported as materialized (select null::bigint as id where false
), running as materialized (
  select jobs.id from "worker"._private_jobs as jobs
  where not jobs.is_available and jobs.locked_at is not null and not jobs.is_available and jobs.task_id = (select id from "worker"._private_tasks where identifier = $1::text)
  union
  select jobs.id from "worker"._private_jobs as jobs
  where jobs.id = any(array(select id from reported)) and jobs.task_id = (select id from "worker"._private_tasks where identifier = $1::text)
), locked_row as materialized (
    select locked.id from "worker"._private_jobs as locked
    where locked.id in (select id from running) and locked.locked_at is not null
    order by locked.id
    for update skip locked
  ), last_attempt as (
    update "worker"._private_jobs as locked set max_attempts = greatest(1::smallint, locked.attempts)
    where locked.id in (select locked_row.id from locked_row) and locked.attempts < locked.max_attempts
  ), requested as (
    insert into "worker"._private_cancellations as requests (job_id, requested_at, reason, requested_by)
    select running.id, pg_catalog.now(), $2::text, $3::text from (select id from running) as running (id) order by running.id
    on conflict (job_id) do update set requested_at = excluded.requested_at,
      reason = coalesce(excluded.reason, requests.reason),
      requested_by = coalesce(excluded.requested_by, requests.requested_by)
    returning pg_catalog.pg_notify('worker:control', 'cancel '::text || coalesce(pg_catalog.left((select locked_by from "worker"._private_jobs as locked where locked.id = requests.job_id), 1000), ''::text))
  )
select pg_catalog.count(*)::int as count from running
