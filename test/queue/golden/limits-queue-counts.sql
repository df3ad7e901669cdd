select given.id, (select pg_catalog.count(*)::int from (
    select from "worker"._private_job_queues where queue_name like given.pattern limit 100001) as matching) as queues
from rows from (pg_catalog.unnest($1::int[]), pg_catalog.unnest($2::text[])) as given (id, pattern)
