with given as (
  select * from rows from (
    pg_catalog.unnest($1::text[]), pg_catalog.unnest($2::int[]), pg_catalog.unnest($3::numeric[]),
    pg_catalog.unnest($4::text[]::timestamptz[]), pg_catalog.unnest($5::float8[])
  ) as given (identifier, revision, from_ms, to_at, last_ms)
), locked as materialized (
  select schedule.identifier from "worker"._private_schedules as schedule
  join given on given.identifier = schedule.identifier
  where greatest(pg_catalog.floor(extract(epoch from schedule.next_at) * 1000::numeric), -62135596800000::numeric) = given.from_ms
    and schedule.revision = given.revision and schedule.paused_at is null
  order by schedule.identifier for update of schedule skip locked
)
update "worker"._private_schedules as schedule set
  next_at = given.to_at, spec = schedule.spec || pg_catalog.jsonb_build_object('lastMs', given.last_ms)
from given join locked on locked.identifier = given.identifier
where schedule.identifier = given.identifier
returning schedule.identifier
