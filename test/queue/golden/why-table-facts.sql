  select
    pg_relation_size(to_regclass($1::text)) / current_setting('block_size')::int as pages,
    coalesce(has_table_privilege(to_regclass($2::text), 'select'), false) as has_workers,
    floor(extract(epoch from now()) * 1000000) as now_us
