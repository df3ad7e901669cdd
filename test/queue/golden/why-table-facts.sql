  select
    pg_catalog.pg_relation_size(pg_catalog.to_regclass($1::text)) / pg_catalog.current_setting('block_size')::int as pages,
    coalesce(pg_catalog.has_table_privilege(pg_catalog.to_regclass($2::text), 'select'), false) as has_workers,
    pg_catalog.floor(extract(epoch from pg_catalog.now()) * 1000000::numeric) as now_us
