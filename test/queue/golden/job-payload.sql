  select true as is_there from "worker"._private_jobs as jobs where jobs.id = $1::bigint;

  select octet_length(whole.payload) as bytes, whole.version, md5(whole.payload) as digest
  from (
    select json_send(jobs.payload) as payload, jobs.xmin::text as version
    from "worker"._private_jobs as jobs
    where jobs.id = $1::bigint
    offset 0
  ) as whole;

  select encode(substring(part.bytes from place for $5::int), 'base64') as piece, part.digest
  from (
    select substring(json_send(jobs.payload) from $2::int for $3::int) as bytes,
      case when jobs.xmin::text <> $4::text then md5(json_send(jobs.payload)) end as digest
    from "worker"._private_jobs as jobs
    where jobs.id = $1::bigint
    offset 0
  ) as part
  cross join lateral generate_series(1, octet_length(part.bytes), $5::int) as place
  order by place
