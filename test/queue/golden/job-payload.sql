  select octet_length(json_send(jobs.payload)) as bytes, jobs.xmin::text as version,
    md5(json_send(jobs.payload)) as digest
  from "worker"._private_jobs as jobs
  where jobs.id = $1::bigint;

  select
    encode(substring(json_send(jobs.payload) from $2::int for $3::int), 'base64') as piece,
    case when jobs.xmin::text <> $4::text then md5(json_send(jobs.payload)) end as digest
  from "worker"._private_jobs as jobs
  where jobs.id = $1::bigint
