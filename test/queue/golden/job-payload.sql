  select true as is_there from "worker"._private_jobs as jobs where jobs.id = $1::bigint;

  select pg_catalog.octet_length(whole.payload) as bytes, whole.version, pg_catalog.md5(whole.payload) as digest
  from (
    select pg_catalog.json_send(jobs.payload) as payload, jobs.xmin::text as version
    from "worker"._private_jobs as jobs
    where jobs.id = $1::bigint
    offset 0
  ) as whole;

  select pg_catalog.encode(pg_catalog.substring(part.bytes, place, $5::int), 'base64') as piece, part.digest
  from (
    select pg_catalog.substring(pg_catalog.json_send(jobs.payload), $2::int, $3::int) as bytes,
      case when jobs.xmin::text <> $4::text then pg_catalog.md5(pg_catalog.json_send(jobs.payload)) end as digest
    from "worker"._private_jobs as jobs
    where jobs.id = $1::bigint
    offset 0
  ) as part
  cross join lateral pg_catalog.generate_series(1, pg_catalog.octet_length(part.bytes), $5::int) as place
  order by place
