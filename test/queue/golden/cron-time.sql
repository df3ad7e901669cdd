select pg_catalog.floor(extract(epoch from pg_catalog.clock_timestamp()) * 1000::numeric) as now_ms
