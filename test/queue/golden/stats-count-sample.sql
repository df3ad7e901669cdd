  select pg_catalog.json_agg(page.matching order by sampled.page)::text as matching,
    pg_catalog.json_agg(page.possible order by sampled.page)::text as possible, pg_catalog.sum(page.jobs) as jobs
  from pg_catalog.unnest($1::bigint[]) as sampled (page)
  cross join lateral (
    select pg_catalog.count(*) filter (where is_match and not is_undecided) as matching,
      pg_catalog.count(*) filter (where is_match) as possible, pg_catalog.count(*) as jobs
    from (
      select (jobs.locked_at is null and jobs.attempts >= jobs.max_attempts and not jobs.is_available) as is_match, false as is_undecided from "worker"._private_jobs as jobs
      where jobs.ctid >= ('(' || sampled.page::text || ',0)')::tid
        and jobs.ctid < ('(' || (sampled.page + 1)::text || ',0)')::tid
        and true
      offset 0
    ) as job
  ) as page
