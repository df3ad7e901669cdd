  select pg_catalog.floor(extract(epoch from pg_catalog.min(moved.run_at)) * 1000000::numeric) as first_us,
    pg_catalog.floor(extract(epoch from pg_catalog.max(moved.run_at)) * 1000000::numeric) as last_us
  from (
    select pg_catalog.now() + pg_catalog.make_interval(secs => $3::double precision + $4::double precision
        * ((pg_catalog.hashint8(jobs.id)::float8 + 2147483648::float8) / 4294967296::float8)) as run_at
    from "worker"._private_jobs as jobs
    where jobs.id <= $1::bigint and jobs.locked_at is null and (jobs.task_id = any($5::int[]))
    order by jobs.id
    limit $2::int
  ) as moved
