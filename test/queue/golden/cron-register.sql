  insert into "worker"._private_known_crontabs (identifier, known_since)
  select identifier, $2::timestamptz
  from pg_catalog.unnest($1::text[]) as given (identifier)
  order by identifier
  on conflict (identifier) do nothing;

  select 
  identifier, pg_catalog.floor(extract(epoch from known_since) * 1000::numeric) as known_since_ms,
  pg_catalog.floor(extract(epoch from last_execution) * 1000::numeric) as last_execution_ms from "worker"._private_known_crontabs where identifier = any($1::text[])
