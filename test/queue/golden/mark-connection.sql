select pg_catalog.pg_advisory_lock_shared(pg_catalog.hashtextextended('worker session ' || $1::text, 0))
