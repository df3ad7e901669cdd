  select pg_catalog.pg_column_size(jobs.payload) as payload_bytes,
    pg_catalog.pg_column_compression(jobs.payload) is not null as is_packed,
    coalesce(pg_catalog.octet_length(jobs.last_error), 0) + coalesce(pg_catalog.pg_column_size(jobs.flags), 0)
      as other_bytes
  from "worker"._private_jobs as jobs
  where jobs.id = $1::bigint;

  select pg_catalog.octet_length(pg_catalog.json_send(jobs.payload)) as bytes
  from "worker"._private_jobs as jobs
  where jobs.id = $1::bigint
