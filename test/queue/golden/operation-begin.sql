  update "worker"._private_operations
  set state = 'interrupted', owner = null
  where state = any('{running,canary,undoing}') and lease_until < pg_catalog.clock_timestamp();

  insert into "worker"._private_operations as operation (
    query, now_us, action, changes, performed_by, source, state, owner, lease_until,
    max_id, before, rate, canary, matched, expected, most, open_since
  )
  values (
    $1::text, $2::text, $3::text, $4::json, $5::text, $6::text, 'running', $7::text,
    pg_catalog.clock_timestamp() + pg_catalog.make_interval(secs => $8::int),
    $9::bigint, $10::timestamptz, $11::int, $12::int, $13::json, $14::json, $15::bigint,
    $16::timestamptz[]
  )
  returning 
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
