  select images.job_id as id,
    true as has_outcome
  from (
    select images.job_id, images.left_at, images.left_attempts
    from "worker"._private_operation_rows as images
    join "worker"._private_operations as operation on operation.id = images.operation_id
    where (images.operation_id, images.job_id) > ($1::bigint, $2::bigint)
    and (images.operation_id, images.job_id) <= ($1::bigint, 9223372036854775807)
    and images.outcome = 'd' and images.undo_outcome is null and images.job_id <= operation.undo_after_id
    order by images.operation_id, images.job_id
    limit $3::int
  ) as images
  
  order by images.job_id
