with forgotten as (
  delete from "worker"._private_back_offs as backs
  where scope = $1::text and name = $2::text and until < pg_catalog.now()
    and (began_at < pg_catalog.now() - interval '1 hour' or began_at < (
      select began_at from "worker"._private_back_offs as others
      where others.scope = $1::text and others.name = $2::text
      order by began_at desc offset 99 limit 1))
), recorded as (
  insert into "worker"._private_back_offs as backs (scope, name, until, reason, job_id, task)
  select $1::text, $2::text, pg_catalog.now() + $3::float8 * interval '1 millisecond', $4::text, $5::bigint, $6::text 
  on conflict (scope, name, began_at) do update set until = greatest(backs.until, excluded.until)
  returning until
), paused as (
  insert into "worker"._private_pauses as pauses (scope, name, resume_at, reason)
  select $1::text, $2::text, until, $4::text from recorded
  on conflict (scope, name) do update set
    paused_at = excluded.paused_at, resume_at = excluded.resume_at, reason = excluded.reason, paused_by = null
  where pauses.resume_at < excluded.resume_at and (pauses.resume_at <= pg_catalog.now() or exists (
    select from "worker"._private_back_offs as backs
    where backs.scope = pauses.scope and backs.name = pauses.name and backs.until = pauses.resume_at))
  returning scope, name
), locked as (
  insert into "worker"._private_job_queues as queues (queue_name, locked_by, locked_at)
  select name, 'paused:' || pg_catalog.left($4::text, 200), 'infinity' from paused where scope = 'queue'
  on conflict (queue_name) do update set locked_by = excluded.locked_by, locked_at = excluded.locked_at
)
select pg_catalog.pg_notify('worker:control', pg_catalog.random()::text) from recorded
