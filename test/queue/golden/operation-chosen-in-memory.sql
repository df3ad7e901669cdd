  with chosen as materialized (
    select id, ctid
    from unnest($8::bigint[], $9::tid[]) as row (id, ctid)
  ), found as materialized (
    select chosen.id, chosen.ctid, jobs.locked_at is not null as is_locked,
      jobs.locked_at is null and coalesce(jobs.updated_at > $3::timestamptz, false) as is_changed
    from chosen
    left join "worker"._private_jobs as jobs
      on jobs.id = chosen.id and jobs.ctid = chosen.ctid and (jobs.task_id = any($10::int[]))
    where chosen.id > $1::bigint and chosen.id <= $2::bigint
    
    order by chosen.id
    limit $4::int
  ), held as materialized (
    select jobs.id, jobs.run_at, jobs.updated_at, jobs.attempts, jobs.max_attempts, jobs.priority
    from found
    join "worker"._private_jobs as jobs on jobs.ctid = found.ctid and jobs.id = found.id
    where not found.is_locked and not found.is_changed
    and jobs.locked_at is null and jobs.updated_at <= $3::timestamptz
    and (jobs.task_id = any($10::int[]))
    order by jobs.id
    for update of jobs skip locked
  ), acted as (
    select acted.id, acted.updated_at, acted.attempts
    from "worker".reschedule_jobs(
      array(select held.id from held),
      run_at => pg_catalog.now(),
      priority => $5::int,
      attempts => $6::int,
      max_attempts => $7::int
    ) as acted
    where not exists (
    select from pg_catalog.pg_proc as own
    where own.pronamespace = E'"worker"'::pg_catalog.regnamespace::oid
    and own.proname in ('reschedule_jobs') and pg_catalog.strpos(pg_catalog.replace(own.prosrc, E'"worker".', ''), '".') > 0
  )
  ), announced as materialized (
    select pg_catalog.pg_notify('jobs:insert', pg_catalog.format('{"r":%s,"count":%s}', pg_catalog.random(), pg_catalog.count(*))) from acted having pg_catalog.count(*) > 0 and true
  )
  select
    (select pg_catalog.count(*) from found)::int as found,
    (select pg_catalog.max(id) from found) as last_id,
    (select pg_catalog.count(*) from announced)::int as announced,
    array(select id from acted order by id) as done_ids,
    array(select attempts from acted order by id) as done_attempts,
    array(select id from found where is_changed) as changed_ids,
    array(select id from found where is_locked) as locked_ids, array(
      select id from found
      where not is_locked and not is_changed and id not in (select id from acted)
    ) as missed_ids,
    (select pg_catalog.floor(extract(epoch from updated_at) * 1000000::numeric) from acted limit 1) as left_at_us;

  select
    pg_catalog.count(*) filter (where jobs.id is null)::int as gone,
    pg_catalog.count(*) filter (where 
  jobs.locked_at is null and jobs.last_error is not null
    and jobs.attempts > was.attempts and greatest(jobs.updated_at, case when jobs.attempts > 0 and jobs.run_at > jobs.created_at
      and jobs.run_at <= pg_catalog.now() + pg_catalog.exp(least(jobs.attempts, 10)) * interval '1 second'
      then jobs.run_at - pg_catalog.exp(least(jobs.attempts, 10)) * interval '1 second' end) > was.at)::int as failed_again
  from unnest($1::bigint[], $2::int[], $3::timestamptz[]) as was (id, attempts, at)
  left join "worker"._private_jobs as jobs on jobs.id = was.id
