  with newest as materialized (
    select flags from "worker"._private_jobs order by id desc limit 200
  )
  select flags from newest
  where case when pg_catalog.pg_column_size(flags) <= 2048
    then case when pg_catalog.pg_column_size(flags) > 16384::int then false
      when pg_catalog.pg_column_compression(flags) is not null then pg_catalog.octet_length(flags::text) <= 16384::int
      else true end and pg_catalog.jsonb_typeof(flags) = 'object' end
