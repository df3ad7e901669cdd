select pg_advisory_lock_shared(hashtextextended('worker session ' || $1::text, 0))
