  select sampled.place::int as place, job.is_large, job.payload, job.last_error, job.marks
  from pg_catalog.unnest($1::bigint[]) with ordinality as sampled (page, place)
  cross join lateral (
      select pg_catalog.pg_column_size(jobs.payload) > $2::int as is_large, jobs.last_error,
        null::text as marks,
        case when pg_catalog.pg_column_size(jobs.payload) <= $2::int then jobs.payload end as payload from "worker"._private_jobs as jobs
      where jobs.ctid >= ('(' || sampled.page::text || ',0)')::tid
        and jobs.ctid < ('(' || (sampled.page + 1)::text || ',0)')::tid
        and (pg_catalog.strpos(jobs.payload::text collate "C", $4::text) > 0 or (pg_catalog.strpos(jobs.payload::text collate "C", pg_catalog.chr(92)) > 0 and pg_catalog.strpos(jobs.payload::text collate "C", pg_catalog.chr(92) || 'u') > 0))
      offset 0
  ) as job
  limit $3::int
