  select jobs.id, jobs.last_error, null::text as marks,
    pg_catalog.pg_column_size(jobs.payload) > 65536 as is_large,
    case when pg_catalog.pg_column_size(jobs.payload) <= 65536 then jobs.payload end as payload
  from "worker"._private_jobs as jobs
  where jobs.id > $1::bigint and jobs.id <= $2::bigint and (pg_catalog.strpos(jobs.payload::text collate "C", $4::text) > 0 or (pg_catalog.strpos(jobs.payload::text collate "C", pg_catalog.chr(92)) > 0 and pg_catalog.strpos(jobs.payload::text collate "C", pg_catalog.chr(92) || 'u') > 0))
  order by jobs.id limit $3::int
