  select pg_relation_size($1::text::regclass) / current_setting('block_size')::int as pages,
    floor(extract(epoch from now()) * 1000000) as now_us
