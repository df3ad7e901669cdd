select pg_catalog.floor(extract(epoch from pg_catalog.now()) * 1000000::numeric)::text as us;

-- payload.a>5 or is:late
select jobs.id, (case when (jobs.is_available and jobs.run_at <= $3::text::timestamptz) then 't' else 'f' end) as marks
from "worker"._private_jobs as jobs
where jobs.id > $1::bigint
and ((pg_catalog.strpos(jobs.payload::text collate "C", $2::text) > 0 or (pg_catalog.strpos(jobs.payload::text collate "C", pg_catalog.chr(92)) > 0 and pg_catalog.strpos(jobs.payload::text collate "C", pg_catalog.chr(92) || 'u') > 0)) or (jobs.is_available and jobs.run_at <= $3::text::timestamptz))
order by jobs.id
