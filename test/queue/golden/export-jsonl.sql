select floor(extract(epoch from now()) * 1000000)::bigint as us;

  select max(jobs.id) as id from "worker"._private_jobs as jobs;

  with 
  bound as materialized (
    select max(id) as last, count(*) as rows
    from (
      select jobs.id
      from "worker"._private_jobs as jobs
      where jobs.id > $1::bigint
      order by jobs.id asc
      limit $2::bigint
    ) as chunk
  ), found as materialized (
    select jobs.id
    from "worker"._private_jobs as jobs
    where jobs.id > $1::bigint and jobs.id <= (select last from bound)
    and (true) and ((jobs.payload::text collate "C" like any ($5::text[]))
    and (jobs.id <= $6::bigint))
    order by jobs.id asc
    limit $3::bigint + $4::bigint
  )
  select bound.last, bound.rows, (select count(*) from found) as matched,
    array_to_string(array(
      select id from found order by id asc offset $3::bigint
    ), ',') as ids
  from bound;

  select texts.id, texts.bytes, texts.bytes > $2::bigint as is_large,
    case when texts.bytes <= $2::bigint then null::text end as marks,
    case when texts.bytes <= $2::bigint then jobs.payload::text end as payload,
    case when texts.bytes <= $2::bigint then jobs.last_error end as last_error
  from (
    select jobs.id, pg_column_size(jobs.payload)::bigint
      + coalesce(pg_column_size(jobs.last_error), 0) as bytes
    from "worker"._private_jobs as jobs
    where jobs.id = any($1::bigint[])
    offset 0
  ) as texts
  join "worker"._private_jobs as jobs on jobs.id = texts.id
  where true or (jobs.payload::text collate "C" like any ($3::text[]))
