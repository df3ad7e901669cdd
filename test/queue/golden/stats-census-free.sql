select pg_try_advisory_xact_lock(hashtextextended('worker:census:' || $1::text, 0)) as is_free
