with removed as (
  delete from "worker"._private_jobs j using unnest($1::bigint[], $2::float8[], $3::boolean[], $4::text[]) as f (id, delay_ms, is_keyed, payload) where j.id = f.id and j.locked_by is null and f.is_keyed and j.key is null and j.attempts >= j.max_attempts returning j.id
), snoozed as (
  update "worker"._private_jobs j set 
    payload = coalesce(nullif(f.payload, ''::text)::json, j.payload),
    run_at = pg_catalog.statement_timestamp() + f.delay_ms * interval '1 millisecond', locked_by = null, locked_at = null
  from unnest($1::bigint[], $2::float8[], $3::boolean[], $4::text[]) as f (id, delay_ms, is_keyed, payload) where j.id = f.id and j.locked_by is null and not (f.is_keyed and j.key is null and j.attempts >= j.max_attempts) returning j.id
), ended as (select id from snoozed union all select id from removed)
select case when (select pg_catalog.count(*) from ended) < pg_catalog.cardinality($1::bigint[]) then
    case when case when exists (
        select from "worker"._private_jobs j where j.id = any($1::bigint[]) and j.locked_by is null
        and j.id not in (select id from ended)
      ) then 'a row was left as it is'::text else '0'::text end::int = 0 then
    array(select pg_catalog.unnest($1::bigint[]) except select id from ended)::text end end as lost
