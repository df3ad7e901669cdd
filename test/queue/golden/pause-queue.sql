select coalesce(pg_catalog.has_table_privilege(pg_catalog.to_regclass($1::text), 'select'), false) as is_there;

with stored as (
  insert into "worker"._private_pauses as pauses (scope, name, paused_at, resume_at, reason, paused_by)
  values ($1::text, $2::text, pg_catalog.now(),
    coalesce($4::timestamptz, pg_catalog.now() + $5::float8 * interval '1 millisecond'), $3::text, $6::text)
  on conflict (scope, name) do update set
    paused_at = excluded.paused_at, resume_at = excluded.resume_at,
    reason = excluded.reason, paused_by = excluded.paused_by
  returning 1
), paused as (
  insert into "worker"._private_job_queues as queues (queue_name, locked_by, locked_at)
  select $2::text, 'paused:' || pg_catalog.translate(pg_catalog.left(coalesce($3::text, ''), 200), pg_catalog.chr(10), ' '), 'infinity'::timestamptz from stored
  on conflict (queue_name) do update set locked_by = excluded.locked_by || coalesce(pg_catalog.chr(10) || coalesce(case when coalesce(pg_catalog.left(queues.locked_by, 8) like 'paused:%', false) then
      pg_catalog.substr(queues.locked_by, nullif(pg_catalog.strpos(queues.locked_by, pg_catalog.chr(10)), 0) + 1) end,
      case when not coalesce(pg_catalog.left(queues.locked_by, 8) like any (array['paused:%', 'managed:%']), false) then queues.locked_by end), ''), locked_at = excluded.locked_at
  returning 1
)
select exists (select from "worker"._private_job_queues where queue_name = $2::text) as is_known, pg_catalog.pg_notify('worker:control', 'pauses') from paused
