with begun as (
  insert into "worker"._private_pauses as pauses (scope, name, paused_at, resume_at, reason)
  values ($1::text, $2::text, pg_catalog.now(), pg_catalog.now() + $3::float8 * interval '1 millisecond', $4::text)
  on conflict (scope, name) do update set
    paused_at = case when pauses.resume_at > pg_catalog.now() then pauses.paused_at else excluded.paused_at end,
    resume_at = excluded.resume_at, reason = excluded.reason, paused_by = null
  where pauses.resume_at <= pg_catalog.now() or pauses.resume_at < excluded.resume_at and exists (
    select from "worker"._private_back_offs as backs
    where backs.scope = pauses.scope and backs.name = pauses.name and backs.until = pauses.resume_at)
  returning paused_at as began_at, resume_at as until
), recorded as (
  insert into "worker"._private_back_offs as backs (scope, name, began_at, until, reason, job_id, task)
  select $1::text, $2::text, began_at, until, $4::text, $5::bigint, $6::text from begun
  on conflict (scope, name, began_at) do update set
    until = excluded.until, reason = excluded.reason, job_id = excluded.job_id, task = excluded.task
  where backs.until < excluded.until
), old as materialized (
  (select scope, name, began_at from "worker"._private_back_offs
    where scope = $1::text and name = $2::text and until <= pg_catalog.now()
    order by began_at desc offset 99)
  union
  (select scope, name, began_at from "worker"._private_back_offs
    where until < pg_catalog.now() - interval '1 hour' limit 100)
), locked as materialized (
  select backs.scope, backs.name, backs.began_at
  from "worker"._private_back_offs as backs join old using (scope, name, began_at)
  where exists (select from begun) for update of backs skip locked
), deleted as (
  delete from "worker"._private_back_offs as backs using locked
  where backs.scope = locked.scope and backs.name = locked.name and backs.began_at = locked.began_at
) 
select exists (select from begun) as begun, true as known,
  case when exists (select from begun) then pg_catalog.pg_notify('worker:control', 'pauses') end
