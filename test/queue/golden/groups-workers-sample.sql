  with per_page as materialized (
    select sampled.place, job.key, pg_catalog.count(*) as count, pg_catalog.min(job.created_at) as first,
      pg_catalog.max(job.created_at) as last, pg_catalog.max(job.id) as id
    from pg_catalog.unnest($2::bigint[]) with ordinality as sampled (page, place)
    cross join lateral (
      select jobs.id, jobs.created_at, pg_catalog.left(jobs.locked_by, 1024) as key from "worker"._private_jobs as jobs
      where jobs.ctid >= ('(' || sampled.page::text || ',0)')::tid
        and jobs.ctid < ('(' || (sampled.page + 1)::text || ',0)')::tid
        and pg_catalog.left(jobs.locked_by, 1024) is not null and (jobs.task_id = any($3::int[]))
      offset 0
    ) as job
    group by 1, 2
  ), whole as materialized (
    select pg_catalog.sum(count) as of, pg_catalog.json_object_agg(place, count)::text as of_counts
    from (select place, pg_catalog.sum(count) as count from per_page group by 1) as pages
  ), largest as (
    select key, pg_catalog.sum(count) as count, pg_catalog.min(first) as first, pg_catalog.max(last) as last,
      (pg_catalog.array_agg(id order by id desc))[1:5] as ids, pg_catalog.json_object_agg(place, count)::text as counts
    from per_page group by 1 order by 2 desc, 1 limit $1::int
  )
  select key::text, count, pg_catalog.date_part('epoch', first) as first_s, pg_catalog.date_part('epoch', last) as last_s,
    (select pg_catalog.json_agg(id::text)::text from (
    select id from pg_catalog.unnest(ids) as all_ids (id) order by id desc limit 5) as last_ids) as newest, counts, whole.of, whole.of_counts
  from largest, whole
  order by count desc, key;

  select pg_catalog.count(*) as jobs
  from pg_catalog.unnest($1::bigint[]) as sampled (page)
  cross join lateral (
      select  from "worker"._private_jobs as jobs
      where jobs.ctid >= ('(' || sampled.page::text || ',0)')::tid
        and jobs.ctid < ('(' || (sampled.page + 1)::text || ',0)')::tid
        and true
      offset 0
  ) as job
