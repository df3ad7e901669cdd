select pg_catalog.pg_stat_get_tuples_deleted($1::text::regclass)::text as deleted
