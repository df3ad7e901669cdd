  select was.job_id as id,
    true as is_one
  from (
    select was.job_id, was.left_at, was.left_attempts
    from "worker"._private_operation_rows as was
    join "worker"._private_operations as operation on operation.id = was.operation_id
    where (was.operation_id, was.job_id) > ($1::bigint, $2::bigint)
    and (was.operation_id, was.job_id) <= ($1::bigint, 9223372036854775807)
    and was.outcome = 'd' and was.undo_outcome is null and was.job_id <= operation.undo_after_id
    order by was.operation_id, was.job_id
    limit $3::int
  ) as was
  
  order by was.job_id
