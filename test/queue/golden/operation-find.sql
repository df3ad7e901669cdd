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
    and operation.state in ('done', 'stopped', 'failed') as can_undo
  from "worker"._private_operations as operation
  where operation.id = $1::bigint and case when coalesce(pg_catalog.octet_length(operation.query), 0)::bigint + coalesce(pg_catalog.octet_length(operation.now_us), 0)::bigint + coalesce(pg_catalog.octet_length(operation.action), 0)::bigint + coalesce(pg_catalog.octet_length(operation.performed_by), 0)::bigint + coalesce(pg_catalog.octet_length(operation.source), 0)::bigint + coalesce(pg_catalog.octet_length(operation.state), 0)::bigint + coalesce(pg_catalog.octet_length(operation.owner), 0)::bigint + coalesce(pg_catalog.octet_length(operation.error), 0)::bigint <= 262144::bigint
    and coalesce(pg_catalog.pg_column_size(operation.changes)::bigint * case pg_catalog.pg_column_compression(operation.changes)
      when 'lz4' then 255 when 'pglz' then 90 else 1 end, 0) <= 16777216::bigint and coalesce(pg_catalog.pg_column_size(operation.matched)::bigint * case pg_catalog.pg_column_compression(operation.matched)
      when 'lz4' then 255 when 'pglz' then 90 else 1 end, 0) <= 16777216::bigint and coalesce(pg_catalog.pg_column_size(operation.expected)::bigint * case pg_catalog.pg_column_compression(operation.expected)
      when 'lz4' then 255 when 'pglz' then 90 else 1 end, 0) <= 16777216::bigint
    then pg_catalog.json_typeof(operation.changes) = 'object'::text else false end
