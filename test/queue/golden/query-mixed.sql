select floor(extract(epoch from now()) * 1000000)::bigint as us;

-- payload.a>5 or is:late
select jobs.id, (case when (jobs.is_available and jobs.run_at <= $3::timestamptz) then 't' else 'f' end) as marks
from "worker"._private_jobs as jobs
where jobs.id > $1::bigint
and ((strpos(jobs.payload::text collate "C", $2::text) > 0 or (strpos(jobs.payload::text collate "C", chr(92)) > 0 and strpos(jobs.payload::text collate "C", chr(92) || 'u') > 0)) or (jobs.is_available and jobs.run_at <= $3::timestamptz))
order by jobs.id
