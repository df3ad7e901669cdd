with done as (
  delete from "worker"._private_jobs j where j.id = any($1::bigint[]) and j.locked_by is null
  returning j.id
)
select case when (select pg_catalog.count(*) from done) < pg_catalog.cardinality($1::bigint[]) then
    case when case when exists (
        select from "worker"._private_jobs j where j.id = any($1::bigint[]) and j.locked_by is null
        and j.id not in (select id from done)
      ) then 'a row was left as it is'::text else '0'::text end::int = 0 then
    array(select pg_catalog.unnest($1::bigint[]) except select id from done)::text end end as lost
