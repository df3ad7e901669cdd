with done as (
  delete from "worker"._private_jobs j where j.id = any($1::bigint[]) and j.locked_by = $2::text
  returning j.id
), unlocked as (
  update "worker"._private_job_queues as queues
  set locked_at = case when queues.locked_by <> $2::text then queues.locked_at end,
    locked_by = case when queues.locked_by <> $2::text then pg_catalog.split_part(queues.locked_by, pg_catalog.chr(10), 1) end
  where id = any($3::int[]) and (queues.locked_by = $2::text or case when coalesce(pg_catalog.left(queues.locked_by, 8) like 'paused:%', false) then
      pg_catalog.substr(queues.locked_by, nullif(pg_catalog.strpos(queues.locked_by, pg_catalog.chr(10)), 0) + 1) end = $2::text)
), freed_slots as (
  update "worker"._private_queue_slots as slots set locked_by = null, locked_at = null where (slots.queue_id, slots.slot) in (
    select (lock & 4294967295::bigint)::int, (lock >> 32)::int from pg_catalog.unnest($4::bigint[]) as locks (lock)) and slots.locked_by = $2::text
)
select case when (select pg_catalog.count(*) from done) < pg_catalog.cardinality($1::bigint[]) then
    case when case when exists (
        select from "worker"._private_jobs j where j.id = any($1::bigint[]) and j.locked_by = $2::text
        and j.id not in (select id from done)
      ) then 'a row was left as it is'::text else '0'::text end::int = 0 then
    array(select pg_catalog.unnest($1::bigint[]) except select id from done)::text end end as lost
