select pg_catalog.floor(extract(epoch from pg_catalog.now()) * 1000000::numeric)::text as us;

-- group:"Error: connect ETIMEDOUT #:#" left:1..3
select jobs.id, null::text as marks
from "worker"._private_jobs as jobs
where jobs.id > $1::bigint
and ((jobs.last_error like $2::text) and ((jobs.max_attempts - jobs.attempts::int) >= $3::bigint and (jobs.max_attempts - jobs.attempts::int) <= $4::bigint))
order by jobs.id
