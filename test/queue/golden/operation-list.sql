  with recursive page as (
    select 0 as row_number, 0::bigint as page_bytes, coalesce($1::bigint, 9223372036854775807::bigint) as id
    union all
    select page.row_number + 1, page.page_bytes + next.bytes, next.id
    from page, lateral (
      select stored.id, (coalesce(pg_catalog.octet_length(stored.query), 0)::bigint + coalesce(pg_catalog.octet_length(stored.now_us), 0)::bigint + coalesce(pg_catalog.octet_length(stored.action), 0)::bigint + coalesce(pg_catalog.octet_length(stored.performed_by), 0)::bigint + coalesce(pg_catalog.octet_length(stored.source), 0)::bigint + coalesce(pg_catalog.octet_length(stored.state), 0)::bigint + coalesce(pg_catalog.octet_length(stored.owner), 0)::bigint + coalesce(pg_catalog.octet_length(stored.error), 0)::bigint + coalesce(pg_catalog.octet_length(stored.changes::text), 0)::bigint + coalesce(pg_catalog.octet_length(stored.matched::text), 0)::bigint + coalesce(pg_catalog.octet_length(stored.expected::text), 0)::bigint)::bigint as bytes from "worker"._private_operations as stored
      where stored.id < page.id and case when coalesce(pg_catalog.octet_length(stored.query), 0)::bigint + coalesce(pg_catalog.octet_length(stored.now_us), 0)::bigint + coalesce(pg_catalog.octet_length(stored.action), 0)::bigint + coalesce(pg_catalog.octet_length(stored.performed_by), 0)::bigint + coalesce(pg_catalog.octet_length(stored.source), 0)::bigint + coalesce(pg_catalog.octet_length(stored.state), 0)::bigint + coalesce(pg_catalog.octet_length(stored.owner), 0)::bigint + coalesce(pg_catalog.octet_length(stored.error), 0)::bigint <= 262144::bigint
    and coalesce(pg_catalog.pg_column_size(stored.changes)::bigint * case pg_catalog.pg_column_compression(stored.changes)
      when 'lz4' then 255 when 'pglz' then 90 else 1 end, 0) <= 16777216::bigint and coalesce(pg_catalog.pg_column_size(stored.matched)::bigint * case pg_catalog.pg_column_compression(stored.matched)
      when 'lz4' then 255 when 'pglz' then 90 else 1 end, 0) <= 16777216::bigint and coalesce(pg_catalog.pg_column_size(stored.expected)::bigint * case pg_catalog.pg_column_compression(stored.expected)
      when 'lz4' then 255 when 'pglz' then 90 else 1 end, 0) <= 16777216::bigint
    then pg_catalog.json_typeof(stored.changes) = 'object'::text else false end 
      order by stored.id desc limit 1
    ) as next
    where page.row_number < $2::int and page.page_bytes < 4194304::bigint
  )
  select 
  operation.id, operation.query, operation.now_us, operation.action, operation.changes,
  operation.performed_by, operation.source, case
    when operation.state in ('running', 'canary', 'undoing')
      and coalesce(operation.lease_until < pg_catalog.clock_timestamp(), true) then 'interrupted'
    else operation.state
  end as state,
  pg_catalog.floor(extract(epoch from operation.created_at) * 1000000::numeric) as created_at_us,
  pg_catalog.floor(extract(epoch from operation.finished_at) * 1000000::numeric) as finished_at_us,
  operation.max_id, pg_catalog.floor(extract(epoch from operation.before) * 1000000::numeric) as before_us, operation.matched,
  array(select pg_catalog.floor(extract(epoch from start) * 1000000::numeric)::bigint
    from pg_catalog.unnest(operation.open_since) as start)::text as open_us,
  operation.expected, operation.after_id, operation.done, operation.skipped_locked,
  operation.skipped_changed, operation.skipped_gone, operation.undo_key_taken,
  operation.undo_changed, operation.undo_gone, operation.undo_locked, operation.kept, operation.rate,
  operation.canary, operation.is_canary_over, operation.most, operation.rate_per_s, operation.eta_s,
  operation.undo_after_id, operation.undone, operation.error,
  operation.kept > 0 and operation.done > 0
    and operation.finished_at > pg_catalog.now() - interval '24 hours'
    and operation.state in ('done', 'stopped', 'failed') as can_undo, page.page_bytes
  from page join "worker"._private_operations as operation on operation.id = page.id
  where page.row_number > 0
  order by page.id desc
