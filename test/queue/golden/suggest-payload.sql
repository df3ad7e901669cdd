  with newest as materialized (
    select payload from "worker"._private_jobs order by id desc limit 200
  )
  select payload from newest
  where case when pg_catalog.pg_column_size(payload) <= 2048
    then case when pg_catalog.pg_column_size(payload) > 16384::int then false
      when pg_catalog.pg_column_compression(payload) is not null then pg_catalog.octet_length(payload::text) <= 16384::int
      else true end end
