select pg_catalog.floor(extract(epoch from pg_catalog.now()) * 1000000::numeric)::text as us;

-- payload.to."odd name"[0].x:7,"a/b" created:2026-01-31
select jobs.id, null::text as marks
from "worker"._private_jobs as jobs
where jobs.id > $1::bigint
and ((pg_catalog.strpos(jobs.payload::text collate "C", $2::text) > 0 or (pg_catalog.strpos(jobs.payload::text collate "C", pg_catalog.chr(92)) > 0 and pg_catalog.strpos(jobs.payload::text collate "C", pg_catalog.chr(92) || 'u') > 0)) and (jobs.created_at >= $3::text::timestamptz and jobs.created_at < $4::text::timestamptz))
order by jobs.id
