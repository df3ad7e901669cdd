  select to_regclass($2::text) is not null
    and bool_and(coalesce(has_table_privilege(to_regclass(name), 'insert'), false)) as is_there
  from unnest($1::text[]) as named (name);

  with gone as (
    delete from "worker"._private_audit
    where id = any(array(
      select id from "worker"._private_audit
      where at < now() - interval '90 days'
      or id <= (select max(id) from "worker"._private_audit) - 100000
      order by id
      limit 5000
    ))
    returning 1
  )
  select count(*)::int as gone from gone
