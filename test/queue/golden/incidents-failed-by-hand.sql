  select exists (select from pg_catalog.pg_attribute where attrelid = pg_catalog.to_regclass($2::text)::oid
      and attname = $3::text::name and not attisdropped)
    and pg_catalog.bool_and(coalesce(pg_catalog.has_table_privilege(pg_catalog.to_regclass(name), 'insert'), false)) as is_there
  from pg_catalog.unnest($1::text[]) as named (name);

  select id, pg_catalog.left(changes ->> 'reason'::text, 600::int) as reason
  from "worker"._private_operations
  where action = 'fail'::text and changes ->> 'reason'::text is not null
  order by id desc limit 1000;

  select pg_catalog.count(*)::int as count from (
    select from "worker"._private_operation_rows as images
    join "worker"._private_jobs as jobs on jobs.id = images.job_id and jobs.updated_at = images.left_at
    where images.operation_id = any($1::bigint[]) and images.outcome = 'd'::"char"
      and ($2::bigint[] is null or images.job_id = any($2::bigint[]))
    limit $3::int
  ) as jobs
