with recursive level (priority) as (
  (select priority from "worker"._private_jobs where is_available order by priority limit 1)
  union all
  select (select j.priority from "worker"._private_jobs j
    where j.is_available and j.priority > level.priority order by j.priority limit 1)
  from level where level.priority is not null
)
select extract(epoch from pg_catalog.min(next.run_at) - pg_catalog.now())::float8 * 1000::float8 as wait_ms
from level cross join lateral (
  select j.run_at from "worker"._private_jobs j
  where j.is_available and j.priority = level.priority
    and j.run_at > pg_catalog.to_timestamp($1::float8)
    and j.run_at < pg_catalog.now() + interval '1 day'
  order by j.run_at limit 1) next
