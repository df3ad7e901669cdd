select backs.scope, pg_catalog.left(backs.name, 512) as name, pg_catalog.floor(extract(epoch from backs.until) * 1000000::numeric)::text as until_us,
  pg_catalog.left(backs.reason, 2000) as reason
from "worker"._private_back_offs as backs
where pg_catalog.octet_length(backs.name) <= 4096::int and backs.until > pg_catalog.now() and backs.scope <> 'limit' and exists (
  select from "worker"._private_pauses as pauses
  where pauses.scope = backs.scope and pauses.name = backs.name and pauses.resume_at = backs.until)
order by backs.began_at limit 10000
