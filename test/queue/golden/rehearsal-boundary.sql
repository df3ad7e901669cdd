  select (select coalesce(pg_catalog.max(id), 0) from "worker"._private_jobs) as max_id,
    pg_catalog.floor(extract(epoch from pg_catalog.now()) * 1000000::numeric) as now_us,
    array(
      select pg_catalog.floor(extract(epoch from xact_start) * 1000000::numeric)::bigint from pg_catalog.pg_stat_activity
      where datname = pg_catalog.current_database() and xact_start is not null and pid <> pg_catalog.pg_backend_pid()
    )::text as open_us
