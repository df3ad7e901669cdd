  select (select coalesce(pg_catalog.max(id), 0) from "worker"._private_jobs) as max_id,
    pg_catalog.floor(extract(epoch from pg_catalog.now()) * 1000000::numeric) as now_us
