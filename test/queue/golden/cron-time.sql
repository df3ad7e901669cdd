select pg_catalog.floor(extract(epoch from pg_catalog.clock_timestamp()) * 1000) as now_ms
