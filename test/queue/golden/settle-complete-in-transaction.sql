with done as (
  delete from "worker"._private_jobs j where j.id = $2::text::bigint and j.locked_by = $1::text returning 1
)
select 1 from done
