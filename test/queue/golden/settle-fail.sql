with failed as (
  update "worker"._private_jobs j
  set last_error = f.message,
    payload = coalesce(f.payload::json, j.payload),
    attempts = j.attempts,
    run_at = greatest(now(), j.run_at) + exp(least(j.attempts, 10)) * interval '1 second',
    updated_at = now(),
    locked_by = null, locked_at = null
  from unnest($1::bigint[], $2::text[], $3::text[]) as f (id, message, payload)
  where j.id = f.id and j.locked_by = $4::text
  returning j.id
)
select case when (select count(*) from failed) < cardinality($1::bigint[]) then
    array(select unnest($1::bigint[]) except select id from failed)::text end as lost
