select pg_catalog.floor(extract(epoch from pg_catalog.now()) * 1000000::numeric)::text as us;

  select last::text, rows::text, coalesce(pg_catalog.array_length(ids, 1), 0) as matched,
    pg_catalog.array_to_string(ids[$3::int + 1 : $3::int + $4::int], ',') as ids
  from (
    select pg_catalog.max(id) as last, pg_catalog.count(*) as rows,
      pg_catalog.array_agg(id) filter (where is_match) as ids
    from (
      select jobs.id, ((true) and ((pg_catalog.strpos(jobs.payload::text collate "C", $5::text) > 0 or (pg_catalog.strpos(jobs.payload::text collate "C", pg_catalog.chr(92)) > 0 and pg_catalog.strpos(jobs.payload::text collate "C", pg_catalog.chr(92) || 'u') > 0)) or (jobs.attempts > $6::bigint))) as is_match
      from "worker"._private_jobs as jobs
      where jobs.id > $1::bigint
      order by jobs.id asc
      limit $2::bigint
    ) as scanned
  ) as chunk;

  select texts.id, not texts.fits as is_large,
    case when texts.fits then (case when (jobs.attempts > $3::bigint) then 't' else 'f' end) end as marks,
    case when texts.fits then jobs.payload::text end as payload,
    case when texts.fits then jobs.last_error end as last_error
  from (
    select jobs.id, (pg_catalog.pg_column_size(jobs.payload)::bigint * case pg_catalog.pg_column_compression(jobs.payload)
      when 'lz4' then 255 when 'pglz' then 90 else 1 end + coalesce(pg_catalog.octet_length(jobs.last_error), 0) <= 524288::bigint) as fits
    from "worker"._private_jobs as jobs
    where jobs.id = any($1::bigint[])
    offset 0
  ) as texts
  join "worker"._private_jobs as jobs on jobs.id = texts.id
  where true or ((pg_catalog.strpos(jobs.payload::text collate "C", $2::text) > 0 or (pg_catalog.strpos(jobs.payload::text collate "C", pg_catalog.chr(92)) > 0 and pg_catalog.strpos(jobs.payload::text collate "C", pg_catalog.chr(92) || 'u') > 0)) or (jobs.attempts > $3::bigint));

  select texts.id, not texts.fits as is_large,
    case when texts.fits then (case when (jobs.attempts > $3::bigint) then 't' else 'f' end) end as marks,
    case when texts.fits then jobs.payload::text end as payload,
    case when texts.fits then jobs.last_error end as last_error
  from (
    select jobs.id, (case when pg_catalog.pg_column_size(jobs.payload) > 8388608::int then false
      when pg_catalog.pg_column_compression(jobs.payload) is not null then pg_catalog.octet_length(jobs.payload::text) <= 8388608::int
      else true end and coalesce(pg_catalog.octet_length(jobs.last_error), 0) <= 8388608::int) as fits
    from "worker"._private_jobs as jobs
    where jobs.id = any($1::bigint[])
    offset 0
  ) as texts
  join "worker"._private_jobs as jobs on jobs.id = texts.id
  where true or ((pg_catalog.strpos(jobs.payload::text collate "C", $2::text) > 0 or (pg_catalog.strpos(jobs.payload::text collate "C", pg_catalog.chr(92)) > 0 and pg_catalog.strpos(jobs.payload::text collate "C", pg_catalog.chr(92) || 'u') > 0)) or (jobs.attempts > $3::bigint))
