  select missed.id,
    case
      when jobs.id is null then 'gone'
      when jobs.locked_at is not null then 'locked'
      when (jobs.updated_at > $2::timestamptz or jobs.updated_at = any($3::timestamptz[])) or (jobs.task_id = any($4::int[])) is not true then 'changed'
      else 'locked'
    end as outcome
  from pg_catalog.unnest($1::bigint[]) as missed (id)
  left join "worker"._private_jobs as jobs on jobs.id = missed.id
  order by missed.id
