with locked as materialized (select id from "worker"._private_limits where id = 1 for update)
select from locked where id < 0;

with present as materialized (
  select case when concurrency is null or revision > 1 or not pg_catalog.now() between set_at and set_at + interval '2.5 seconds'
    or not exists (select from "worker"._private_workers as workers where workers.started_at < set_at and workers.id <> $2::text and (revision < 0
      or not exists (select from "worker"._private_limit_permits where limit_id = $1::int and worker_id = workers.id)))
    then concurrency else 0 end as most from "worker"._private_limits where id = $1::int
), own as materialized (
  select permits from "worker"._private_limit_permits where limit_id = $1::int and worker_id = $2::text
), others as materialized (
  select least(coalesce(pg_catalog.sum(greatest(permits, in_use)), 0), 1000000000::bigint)::int as held,
    pg_catalog.count(*) filter (where wanted > 0)::int as claimants,
    pg_catalog.count(*) filter (where wanted > 0 and worker_id < $2::text)::int as before,
    coalesce(pg_catalog.bool_or(wanted > permits), false) as are_short,
    coalesce(pg_catalog.bool_or(wanted > permits
      and short_since < pg_catalog.now() - interval '0.5 seconds'), false) as are_long_short
  from "worker"._private_limit_permits where limit_id = $1::int and worker_id <> $2::text
), claim as (
  select others.*, most, coalesce(own.permits, 0) as kept,
    case when $4::int = 0 then 0
      when are_long_short or held + coalesce(own.permits, 0) > most then least($4::int, most / (claimants + 1)
        + case when (before + turn) % (claimants + 1) < most % (claimants + 1) then 1 else 0 end)
      else greatest($4::int, coalesce(own.permits, 0)) end as target
  from present cross join others left join own on true, lateral (
    select case when claimants < most then 0
      else (pg_catalog.date_part('epoch', pg_catalog.now()) / 5::float8)::int end as turn) as turns
), part as (
  select *, greatest(least($3::int, kept),
      least(case when $4::int = 0 and not are_short then kept else target end, most - held), 0) as permits
  from claim where most is not null
), stored as (
  insert into "worker"._private_limit_permits as p (limit_id, worker_id, permits, in_use, wanted, short_since, exchange)
  select $1::int, $2::text, permits, $3::int, $4::int, case when $4::int > permits then pg_catalog.now() end, $5::bigint
  from part
  on conflict (limit_id, worker_id) do update set
    permits = excluded.permits, in_use = excluded.in_use, wanted = excluded.wanted,
    exchange = excluded.exchange,
    short_since = case when excluded.short_since is not null then least(p.short_since, excluded.short_since) end
  where p.exchange < excluded.exchange
  returning permits
)
select present.most as concurrency, stored.permits, case when $4::int = 0 and not part.are_short then stored.permits
    else least(stored.permits, part.target) end as share, part.are_short as others_are_short,
  case when part.are_short and stored.permits < part.kept then pg_catalog.pg_notify('worker:permits', $1::int::text || ' free'::text)
    when stored.permits < $4::int and part.held > 0 then pg_catalog.pg_notify('worker:permits', $1::int::text || ' wanted'::text) end
from present left join part on true left join stored on true
