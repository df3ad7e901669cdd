select coalesce(pg_catalog.bool_or(resume_at <= pg_catalog.now()), false) as has_due,
  pg_catalog.count(*) filter (where resume_at is null or resume_at > pg_catalog.now())::text || ' '::text
    || coalesce(pg_catalog.floor(extract(epoch from pg_catalog.max(paused_at)) * 1000000::numeric)::text, ''::text) as mark
from "worker"._private_pauses
