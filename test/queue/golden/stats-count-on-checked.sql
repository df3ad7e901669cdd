  select jobs.id
  from "worker"._private_jobs as jobs
  where jobs.id > $1::bigint
  order by jobs.id asc
  limit 1
  offset $2::bigint;

  select jobs.id, pg_catalog.left(jobs.last_error, 4096) as last_error,
    null::text as marks,
      case when pg_catalog.pg_column_size(jobs.payload) <= 32768::int and not (pg_catalog.pg_column_compression(jobs.payload) is not null)
        then jobs.payload end as payload,
      case when pg_catalog.pg_column_compression(jobs.payload) is not null and pg_catalog.pg_column_size(jobs.payload) <= 32768::int
        then (pg_catalog.pg_column_size(jobs.payload)::bigint * case pg_catalog.pg_column_compression(jobs.payload)
      when 'lz4' then 255 when 'pglz' then 90 else 1 end)::float8 end as packed_bytes,
      jobs.ctid::text as place_in_table
  from "worker"._private_jobs as jobs
  where jobs.id > $1::bigint and jobs.id <= $2::bigint and (pg_catalog.strpos(jobs.payload::text collate "C", $4::text) > 0 or (pg_catalog.strpos(jobs.payload::text collate "C", pg_catalog.chr(92)) > 0 and pg_catalog.strpos(jobs.payload::text collate "C", pg_catalog.chr(92) || 'u') > 0))
  order by jobs.id limit $3::int;

  select job.id, pg_catalog.octet_length(job.payload) as bytes,
    case when pg_catalog.octet_length(job.payload) <= $3::int then job.payload end as payload
  from (
    select jobs.id, jobs.payload::text as payload
    from "worker"._private_jobs as jobs
    where jobs.ctid = any($1::tid[]) and jobs.id = any($2::bigint[])
    offset 0
  ) as job
