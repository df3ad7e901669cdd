with forgotten as (
  delete from "worker"._private_back_offs as backs
  where scope = $1::text and name = $2::text and until < pg_catalog.now()
    and (began_at < pg_catalog.now() - interval '1 hour' or began_at < (
      select began_at from "worker"._private_back_offs as others
      where others.scope = $1::text and others.name = $2::text
      order by began_at desc offset 99 limit 1))
), recorded as (
  insert into "worker"._private_back_offs as backs (scope, name, until, reason, job_id, task)
  select $1::text, $2::text, pg_catalog.now() + $3::float8 * interval '1 millisecond', $4::text, $5::bigint, $6::text where exists (select from "worker"._private_limits where name = $2::text)
  on conflict (scope, name, began_at) do update set until = greatest(backs.until, excluded.until)
  returning until
)
select pg_catalog.pg_notify('worker:control', pg_catalog.random()::text) from recorded
