  with candidates as (
    select id, pg_catalog.sum(kept) over (order by id desc) - kept::numeric as kept_since
    from "worker"._private_operations
    where kept > 0 or finished_at is null
  ), old as (
    select operation.id
    from candidates join "worker"._private_operations as operation using (id)
    where (case
    when operation.state in ('running', 'canary', 'undoing')
      and coalesce(operation.lease_until < pg_catalog.clock_timestamp(), true) then 'interrupted'
    else operation.state
  end) <> all('{running,canary,undoing}')
    and (
      candidates.kept_since >= 1000000::numeric
      or coalesce(greatest(operation.finished_at, operation.lease_until), operation.created_at) < pg_catalog.now() - interval '24 hours'
      or operation.id <= (select pg_catalog.max(id) from "worker"._private_operations) - 20000
    )
    order by operation.id
    limit 5000
  ), expired as (
    update "worker"._private_operations as operation
    set
      kept = 0,
      state = case when operation.state not in ('done', 'stopped', 'failed', 'undone') then 'stopped' else state end,
      error = case when operation.state not in ('done', 'stopped', 'failed', 'undone') then coalesce(error, 'not resumed before its receipt expired') else error end,
      finished_at = coalesce(finished_at, pg_catalog.now()),
      owner = null,
      lease_until = null
    from old where operation.id = old.id and (case
    when operation.state in ('running', 'canary', 'undoing')
      and coalesce(operation.lease_until < pg_catalog.clock_timestamp(), true) then 'interrupted'
    else operation.state
  end) <> all('{running,canary,undoing}')
    returning 1
  ), outdated as (
    delete from "worker"._private_rehearsals where expires_at < pg_catalog.now()
  ), deleted as (
    delete from "worker"._private_operations
    where id = any(array(
      select id from "worker"._private_operations as operation
      where kept = 0
      and (finished_at < pg_catalog.now() - interval '90 days' or id <= (select pg_catalog.max(id) from "worker"._private_operations) - 20000 and finished_at is not null)
      and not exists (
        select from "worker"._private_operation_rows as images where images.operation_id = operation.id
      )
      order by id
      limit 5000
    ))
    returning 1
  )
  select greatest((select pg_catalog.count(*) from expired), (select pg_catalog.count(*) from deleted))::int as deleted;

  with deleted as (
    delete from "worker"._private_operation_rows
    where ctid = any(array(
      select images.ctid
      from "worker"._private_operations as operation
      cross join lateral (
        select ctid from "worker"._private_operation_rows
        where operation_id = operation.id
        order by job_id
        limit 5000
      ) as images
      where operation.kept = 0
      limit 5000
    ))
    returning 1
  )
  select pg_catalog.count(*)::int as deleted from deleted
