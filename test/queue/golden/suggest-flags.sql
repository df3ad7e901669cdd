  with newest as materialized (
    select flags from "worker"._private_jobs order by id desc limit 200
  )
  select flags from newest
  where pg_catalog.jsonb_typeof(flags) = 'object' and pg_catalog.pg_column_size(flags) <= 2048
