  select jobs.id
  from "worker"._private_jobs as jobs
  where jobs.id <= $1::bigint
  order by jobs.id desc
  limit 1
  offset $2::bigint;

  with 
  bound as materialized (
    select min(id) as last, count(*) as rows
    from (
      select jobs.id
      from "worker"._private_jobs as jobs
      where jobs.id <= $1::bigint
      order by jobs.id desc
      limit $2::bigint
    ) as chunk
  ), found as materialized (
    select jobs.id
    from "worker"._private_jobs as jobs
    where jobs.id <= $1::bigint and jobs.id >= (select last from bound)
    and (true) and true
    order by jobs.id desc
    limit $3::bigint + $4::bigint
  )
  select bound.last, bound.rows, (select count(*) from found) as matched,
    array_to_string(array(
      select id from found order by id desc offset $3::bigint
    ), ',') as ids
  from bound
