with known as materialized (
  select name from "worker"._private_limits where name = $2::text
), present as materialized (
  select began_at, until from "worker"._private_back_offs
  where scope = $1::text and name = $2::text and until > pg_catalog.now()
  order by until desc limit 1
), begun as materialized (
  select coalesce(present.began_at, pg_catalog.now()) as began_at, pg_catalog.now() + $3::float8 * interval '1 millisecond' as until
  from known left join present on true
  where present.until is null or present.until < pg_catalog.now() + $3::float8 * interval '1 millisecond'
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
select exists (select from begun) as begun, exists (select from known) as known,
  case when exists (select from begun) then pg_catalog.pg_notify('worker:control', 'all') end
