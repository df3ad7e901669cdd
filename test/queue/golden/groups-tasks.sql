  select key::text, count, first_s, last_s, (select pg_catalog.json_agg(id::text)::text from (
    select id from pg_catalog.unnest(ids) as all_ids (id) order by id desc limit 5) as last_ids) as newest,
    null as counts, of, null as of_counts
  from (
    select jobs.task_id as key, pg_catalog.count(*) as count,
      pg_catalog.date_part('epoch', pg_catalog.min(jobs.created_at)) as first_s,
      pg_catalog.date_part('epoch', pg_catalog.max(jobs.created_at)) as last_s, array[pg_catalog.max(jobs.id)] as ids,
      pg_catalog.sum(pg_catalog.count(*)) over () as of
    from "worker"._private_jobs as jobs
    where jobs.task_id is not null and (jobs.task_id = any($2::int[]))
    group by 1
    order by count desc, key
    limit $1::int
  ) as largest
  order by count desc, key
