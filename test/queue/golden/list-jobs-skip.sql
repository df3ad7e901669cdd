  select jobs.id
  from "worker"._private_jobs as jobs
  where jobs.id <= $1::bigint
  order by jobs.id desc
  limit 1
  offset $2::bigint;

  select last::text, rows::text, coalesce(pg_catalog.array_length(ids, 1), 0) as matched,
    pg_catalog.array_to_string(ids[$3::int + 1 : $3::int + $4::int], ',') as ids
  from (
    select pg_catalog.min(id) as last, pg_catalog.count(*) as rows,
      pg_catalog.array_agg(id) filter (where is_match) as ids
    from (
      select jobs.id, ((true) and true) as is_match
      from "worker"._private_jobs as jobs
      where jobs.id <= $1::bigint
      order by jobs.id desc
      limit $2::bigint
    ) as scanned
  ) as chunk
