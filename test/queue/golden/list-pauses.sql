select coalesce(pg_catalog.has_table_privilege(pg_catalog.to_regclass($1::text), 'select'), false) as is_there;

select scope, pg_catalog.left(name, 512) as name, pg_catalog.floor(extract(epoch from paused_at) * 1000000::numeric)::text as paused_us, pg_catalog.floor(extract(epoch from resume_at) * 1000000::numeric)::text as resume_us,
  coalesce(resume_at <= pg_catalog.now(), false) as has_ended,
  pg_catalog.left(reason, 2000) as reason, pg_catalog.left(paused_by, 512) as paused_by, exists (
    select from "worker"._private_back_offs as backs
    where backs.scope = pauses.scope and backs.name = pauses.name and backs.until = pauses.resume_at) as is_back_off
from "worker"._private_pauses as pauses
where pg_catalog.octet_length(name) <= 4096::int and (scope <> 'queue' and (resume_at is null or resume_at > pg_catalog.now())
  or scope = 'queue' and exists (
    select from "worker"._private_job_queues as queues
    where queues.queue_name = pauses.name and coalesce(pg_catalog.left(queues.locked_by, 8) like 'paused:%', false)))
order by scope <> 'all', scope desc, pauses.name
limit 10000
