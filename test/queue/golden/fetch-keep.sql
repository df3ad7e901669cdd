update "worker"._private_jobs j set attempts = j.attempts + 1, locked_by = $1::text, locked_at = pg_catalog.statement_timestamp() where j.id = any($2::bigint[])
