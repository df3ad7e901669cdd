select j.id::text from "worker"._private_jobs j
join unnest($1::bigint[], $2::int[]) as ended (id, attempts) on ended.id = j.id
where j.attempts > ended.attempts and j.locked_by = $3::text
