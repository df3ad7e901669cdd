  with ended as (
    select id, finished_at, sum(kept) over (order by id desc) as kept_since
    from "worker"._private_operations
    where kept > 0
  ), old as (
    select operation.id
    from ended join "worker"._private_operations as operation using (id)
    where operation.state in ('done', 'stopped', 'failed', 'undone')
    and (
      ended.kept_since > 1000000
      or operation.finished_at < now() - interval '24 hours'
    )
    order by operation.id
    limit 100
  ), expired as (
    update "worker"._private_operations as operation set kept = 0
    from old where operation.id = old.id
  ), forgotten as (
    delete from "worker"._private_rehearsals where expires_at < now()
  )
  delete from "worker"._private_operations as operation
  where finished_at < now() - interval '90 days' and kept = 0
  and not exists (
    select from "worker"._private_operation_rows as was where was.operation_id = operation.id
  );

  with gone as (
    delete from "worker"._private_operation_rows
    where ctid = any(array(
      select was.ctid
      from "worker"._private_operations as operation
      cross join lateral (
        select ctid from "worker"._private_operation_rows
        where operation_id = operation.id
        order by job_id
        limit 5000
      ) as was
      where operation.kept = 0
      limit 5000
    ))
    returning 1
  )
  select count(*)::int as gone from gone
