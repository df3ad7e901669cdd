  with noted as (
    update "worker"._private_operation_rows
    set outcome = case when job_id = any($2::bigint[]) then 'c' else 'g' end::"char"
    where operation_id = $1::bigint and job_id = any(pg_catalog.array_cat($2::bigint[], $3::bigint[]))
    and outcome = 'l'
  )
  update "worker"._private_operations
  set
    skipped_locked = skipped_locked - pg_catalog.cardinality($2::bigint[]) - pg_catalog.cardinality($3::bigint[]),
    skipped_changed = skipped_changed + pg_catalog.cardinality($2::bigint[]),
    skipped_gone = skipped_gone + pg_catalog.cardinality($3::bigint[])
  where id = $1::bigint
