select floor(extract(epoch from now()) * 1000000)::bigint as us;

-- payload.to."odd name"[0].x:7,"a/b" created:2026-01-31
select jobs.id, null::text as marks
from "worker"._private_jobs as jobs
where jobs.id > $1::bigint
and ((jobs.payload::text collate "C" like any ($2::text[])) and (jobs.created_at >= $3::timestamptz and jobs.created_at < $4::timestamptz))
order by jobs.id
