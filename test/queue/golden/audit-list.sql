  select to_regclass($2::text) is not null
    and bool_and(coalesce(has_table_privilege(to_regclass(name), 'insert'), false)) as is_there
  from unnest($1::text[]) as named (name);

  select id, entry as json
  from "worker"._private_audit
  where $1::bigint is null or id < $1::bigint
  order by id desc
  limit $2::int
