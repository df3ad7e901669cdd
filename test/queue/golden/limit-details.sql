select pg_catalog.left(worker_id, 2000) as worker_id, permits, in_use, wanted from "worker"._private_limit_permits as p
where limit_id = $1::int and pg_catalog.octet_length(worker_id) <= 4096::int order by permits desc, p.worker_id limit 1000;

select scope, pg_catalog.left(name, 512) as name, pg_catalog.left(reason, 2000) as reason, pg_catalog.left(task, 512) as task, job_id::text, pg_catalog.floor(extract(epoch from began_at) * 1000000::numeric)::text as began_us,
  pg_catalog.floor(extract(epoch from until) * 1000000::numeric)::text as until_us
from "worker"._private_back_offs
where began_at > pg_catalog.now() - interval '1 hour' and (scope = 'limit' and name = $1::text
  or scope = $2::text and name like $3::text)
order by began_at desc limit 100
