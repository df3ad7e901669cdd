  with newest as materialized (
    select flags from "worker"._private_jobs order by id desc limit 200
  )
  select flags from newest
  where jsonb_typeof(flags) = 'object' and pg_column_size(flags) <= 2048
