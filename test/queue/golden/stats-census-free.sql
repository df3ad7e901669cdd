select pg_catalog.pg_try_advisory_xact_lock(pg_catalog.hashtextextended('worker:census:' || $1::text, 0)) as is_free
