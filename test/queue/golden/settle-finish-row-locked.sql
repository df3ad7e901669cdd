with done as (
  delete from "worker"._private_jobs j where j.id = any($1::bigint[]) and j.locked_by is null
  returning j.id
)
select case when (select count(*) from done) < cardinality($1::bigint[]) then
    array(select unnest($1::bigint[]) except select id from done)::text end as lost
