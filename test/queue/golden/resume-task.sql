select coalesce(pg_catalog.has_table_privilege(pg_catalog.to_regclass($1::text), 'select'), false) as is_there;

with ended as (
  delete from "worker"._private_pauses where scope = $1::text and name = any($2::text[])
  returning resume_at is null or resume_at > pg_catalog.now() as is_paused
)
select pg_catalog.bool_or(is_paused) as was_paused, false as waits, pg_catalog.pg_notify('jobs:insert', pg_catalog.format('{"r":%s,"count":1,"resumed":true}', pg_catalog.random())), pg_catalog.pg_notify('worker:control', 'pauses')
from ended having pg_catalog.count(*) > 0
