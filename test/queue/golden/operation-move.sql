  update "worker"._private_operations
  set state = 'interrupted', owner = null
  where state = any('{running,canary,undoing}') and lease_until < pg_catalog.clock_timestamp();

  update "worker"._private_operations as operation
  set
    state = $3::text,
    owner = case when $4::boolean then $6::text when $5::boolean and $3 = any('{running,canary,undoing}') then owner end,
    lease_until = case
      when $4::boolean or ($5::boolean and $3 = any('{running,canary,undoing}'))
      then pg_catalog.clock_timestamp() + pg_catalog.make_interval(secs => $7::int)
      -- From this time on, no process works on the operation. The age of the receipt is counted from this time.
      when $3 in ('paused', 'interrupted') then pg_catalog.clock_timestamp()
    end,
    -- An operation that is done has processed all ids, unless it ended at its limit.
    after_id = case when $3 = 'done' and not coalesce(done >= most, false) then max_id else after_id end,
    finished_at = case
      when $3 in ('done', 'stopped', 'failed') then coalesce(finished_at, pg_catalog.now())
      when $3 = 'undone' then pg_catalog.now()
      else finished_at
    end,
    is_canary_over = is_canary_over or $8::boolean,
    undo_after_id = case when $3 = 'undoing' then coalesce(undo_after_id, 0) else undo_after_id end,
    error = $9::text,
    rate_per_s = null,
    eta_s = null
  where id = $1::bigint
  and (case when $5::boolean then state else case
    when operation.state in ('running', 'canary', 'undoing')
      and coalesce(operation.lease_until < pg_catalog.clock_timestamp(), true) then 'interrupted'
    else operation.state
  end end) = any($2::text[])
  and (not $5::boolean or owner = $6::text)
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
