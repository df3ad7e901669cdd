select mark, has_due, next_ms,
  case when mark is distinct from $1::text and count <= 1000 then pauses end as pauses
from (
  select pg_catalog.count(*)::text || ' '::text || coalesce(pg_catalog.sum(pg_catalog.hashtextextended(
    scope || ' '::text || pg_catalog.left(name, 512) || ' '::text || pg_catalog.floor(extract(epoch from paused_at) * 1000000::numeric)::text, 0)), 0)::text as mark, pg_catalog.count(*) as count, coalesce(pg_catalog.json_agg(pg_catalog.hashtextextended(
    scope || ' '::text || pg_catalog.left(name, 512) || ' '::text || pg_catalog.floor(extract(epoch from paused_at) * 1000000::numeric)::text, 0)::text)::text, '[]') as pauses,
    coalesce(pg_catalog.bool_or(resume_at <= pg_catalog.now()), false) as has_due,
    pg_catalog.date_part('epoch', pg_catalog.min(resume_at) filter (
      where resume_at > pg_catalog.now() and resume_at < 'infinity'::timestamptz) - pg_catalog.now()) * 1000::float8 as next_ms
  from "worker"._private_pauses
) as state
