with failed as (
  update "worker"._private_jobs j
  set last_error = f.message,
    payload = coalesce(nullif(f.payload, ''::text)::json, j.payload),
    attempts = j.attempts + 1,
    max_attempts = case when f.delay_ms = '-2'::float8 then greatest(1, j.attempts + 1) else j.max_attempts end,
    run_at = greatest(pg_catalog.statement_timestamp(), j.run_at) + case when f.delay_ms >= 0::float8 then f.delay_ms * interval '1 millisecond' else pg_catalog.exp(least(j.attempts + 1, 10)) * interval '1 second' end,
    updated_at = pg_catalog.statement_timestamp(),
    locked_by = null, locked_at = null
  from unnest($1::bigint[], $2::text[], $3::text[], $4::float8[]) as f (id, message, payload, delay_ms)
  where j.id = f.id and j.locked_by is null
  returning j.id
)
select case when (select pg_catalog.count(*) from failed) < pg_catalog.cardinality($1::bigint[]) then
    case when case when exists (
        select from "worker"._private_jobs j where j.id = any($1::bigint[]) and j.locked_by is null
        and j.id not in (select id from failed)
      ) then 'a row was left as it is'::text else '0'::text end::int = 0 then
    array(select pg_catalog.unnest($1::bigint[]) except select id from failed)::text end end as lost
