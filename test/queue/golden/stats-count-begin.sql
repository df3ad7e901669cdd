  select coalesce(pg_catalog.min(id), 1) - 1 as after_id, coalesce(pg_catalog.max(id), 0) as last_id
  from "worker"._private_jobs
