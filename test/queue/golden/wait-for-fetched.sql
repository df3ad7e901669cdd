  select j.id::text from "worker"._private_jobs j
  where (j.id = any($1::bigint[]) or j.key = $2::text) and j.locked_at is not null;

select coalesce(pg_catalog.has_table_privilege(pg_catalog.to_regclass($1::text), 'select'), false) as is_there;

  select j.id::text from "worker"._private_jobs j
  join "worker"._private_workers workers on workers.id = j.locked_by
  where j.id = any($1::bigint[]) and j.locked_at is not null and case when pg_catalog.jsonb_typeof(workers.metadata -> 'running_job_ids'::text) = 'array'
    then pg_catalog.jsonb_array_length(workers.metadata -> 'running_job_ids'::text) <= 1000
      and coalesce(workers.metadata -> 'running_jobs'::text = pg_catalog.to_jsonb(pg_catalog.jsonb_array_length(workers.metadata -> 'running_job_ids'::text)), true)
    else false end
    and not workers.metadata -> 'running_job_ids'::text operator(pg_catalog.?) j.id::text
