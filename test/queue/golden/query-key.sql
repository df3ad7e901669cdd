select pg_catalog.floor(extract(epoch from pg_catalog.now()) * 1000000::numeric)::text as us;

  select case
    when collations.collname <> 'default'
      then coalesce(collations.collcollate, collations.collname::text)
    when coalesce(pg_catalog.to_jsonb(databases) ->> 'datlocprovider'::text, 'c') = 'i' then 'icu'
    when pg_catalog.to_jsonb(databases) ->> 'datlocprovider'::text = 'b'
      then coalesce(pg_catalog.to_jsonb(databases) ->> 'datlocale'::text, pg_catalog.to_jsonb(databases) ->> 'daticulocale'::text)
    else databases.datcollate
  end as collation
  from pg_catalog.pg_attribute as attributes
  join pg_catalog.pg_collation as collations on collations.oid = attributes.attcollation
  cross join (select * from pg_catalog.pg_database where datname = pg_catalog.current_database()) as databases
  where attributes.attrelid = pg_catalog.to_regclass($1::text)::oid and attributes.attname = 'key';

  select id from "worker"._private_jobs
  where key >= $1::text and key < $2::text
  limit 1001;

-- key:user-*
select jobs.id, null::text as marks
from "worker"._private_jobs as jobs
where jobs.id > $1::bigint
and (jobs.key >= $2::text and jobs.key < $3::text and (pg_catalog.starts_with(jobs.key collate "C", $4::text)))
order by jobs.id
