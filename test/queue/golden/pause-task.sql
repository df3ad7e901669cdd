select coalesce(pg_catalog.has_table_privilege(pg_catalog.to_regclass($1::text), 'select'), false) as is_there;

with stored as (
  insert into "worker"._private_pauses as pauses (scope, name, paused_at, resume_at, reason, paused_by)
  values ($1::text, $2::text, pg_catalog.now(),
    coalesce($4::timestamptz, pg_catalog.now() + $5::float8 * interval '1 millisecond'), $3::text, $6::text)
  on conflict (scope, name) do update set
    paused_at = excluded.paused_at, resume_at = excluded.resume_at,
    reason = excluded.reason, paused_by = excluded.paused_by
  returning 1
)
select exists (select from "worker"._private_tasks where identifier = $2::text) as is_known, pg_catalog.pg_notify('worker:control', 'pauses') from stored
