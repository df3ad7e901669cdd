select coalesce(pg_catalog.has_table_privilege(pg_catalog.to_regclass($1::text), 'select'), false) as is_there;

with locked_jobs as materialized (
  select j.id, j.run_at, j.key is null and j.attempts >= j.max_attempts
    and j.updated_at >= j.locked_at and j.updated_at <= pg_catalog.now() as is_removed,
    j.job_queue_id is not null and exists (
      select from "worker"._private_jobs o
      where o.is_available and o.priority = j.priority and o.run_at = j.run_at) as has_equals
  from "worker"._private_jobs j
  where not j.is_available and j.locked_at is not null and j.id <> all($2::bigint[])
    and j.locked_at not between pg_catalog.to_timestamp($3::float8) and pg_catalog.clock_timestamp() and j.locked_by = $1::text order by j.id for update
), placed as materialized (
  select id, case when has_equals
      then pg_catalog.row_number() over (order by run_at desc, id desc) else 0 end as from_last
  from locked_jobs where not is_removed
), removed as (
  delete from "worker"._private_jobs j using locked_jobs where j.id = locked_jobs.id and locked_jobs.is_removed returning j.id
), returned as (
  update "worker"._private_jobs j set attempts = greatest(0, j.attempts - 1), locked_by = null, locked_at = null,
    run_at = j.run_at - placed.from_last::float8 * interval '1 microsecond'
  from placed where j.id = placed.id returning j.id
), ended as (select id from returned union all select id from removed), unlocked as (
  update "worker"._private_job_queues as queues
  set locked_at = case when queues.locked_by <> $1::text then queues.locked_at end,
    locked_by = case when queues.locked_by <> $1::text then pg_catalog.split_part(queues.locked_by, pg_catalog.chr(10), 1) end
  where id <> all($4::int[]) and (queues.locked_by = $1::text or case when coalesce(pg_catalog.left(queues.locked_by, 8) like 'paused:%', false) then
      pg_catalog.substr(queues.locked_by, nullif(pg_catalog.strpos(queues.locked_by, pg_catalog.chr(10)), 0) + 1) end = $1::text)
), freed_slots as (
  update "worker"._private_queue_slots as slots set locked_by = null, locked_at = null where slots.locked_by = $1::text and not (slots.queue_id, slots.slot) in (
    select (lock & 4294967295::bigint)::int, (lock >> 32)::int from pg_catalog.unnest($5::bigint[]) as locks (lock))
)
select pg_catalog.count(*)::int as count from ended
