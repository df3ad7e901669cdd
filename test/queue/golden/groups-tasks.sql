  select key::text, count, first_s, last_s, (select json_agg(id::text)::text from (
    select id from unnest(ids) as all_ids (id) order by id desc limit 5) as last_ids) as newest,
    null as counts, of, null as of_counts
  from (
    select jobs.task_id as key, count(*) as count,
      date_part('epoch', min(jobs.created_at)) as first_s,
      date_part('epoch', max(jobs.created_at)) as last_s, array[max(jobs.id), min(jobs.id)] as ids,
      sum(count(*)) over () as of
    from "worker"._private_jobs as jobs
    where jobs.task_id is not null and (jobs.task_id = any($2::int[]))
    group by 1
    order by count desc, key
    limit $1::int
  ) as largest
  order by count desc, key
