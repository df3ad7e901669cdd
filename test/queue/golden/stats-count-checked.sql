  select sampled.place::int as place, job.is_large, job.payload, job.last_error, job.marks
  from unnest($1::bigint[]) with ordinality as sampled (page, place)
  cross join lateral (
      select pg_column_size(jobs.payload) > $2::int as is_large, jobs.last_error,
        null::text as marks,
        case when pg_column_size(jobs.payload) <= $2::int then jobs.payload end as payload from "worker"._private_jobs as jobs
      where jobs.ctid >= ('(' || sampled.page || ',0)')::tid
        and jobs.ctid < ('(' || (sampled.page + 1) || ',0)')::tid
        and (jobs.payload::text collate "C" like any ($4::text[]))
      offset 0
  ) as job
  limit $3::int
