select pg_catalog.pg_current_xact_id()::text as id;

select coalesce(pg_catalog.has_table_privilege(pg_catalog.to_regclass($1::text), 'delete'), false) as may_delete;

select coalesce(pg_catalog.has_table_privilege(pg_catalog.to_regclass($1::text), 'select'), false) as is_there;

  with unused as materialized (
    select names.id
    from "worker"._private_tasks as names
    where names.id > $1::int
    and not exists (
      select from "worker"._private_jobs as jobs where jobs.task_id = names.id
    )
    and names.identifier <> all($3::text[])
    order by names.id
    limit $2::int
  ), deleted as (
    delete from "worker"._private_tasks as names
    using unused
    where names.id = unused.id and names.identifier <> all($3::text[])
    returning names.id, names.identifier as name
  )
  select unused.id, deleted.name
  from unused left join deleted on deleted.id = unused.id
  order by unused.id;

  select open.transaction from (
    select locks.virtualtransaction as transaction
    from pg_catalog.pg_locks as locks
    join pg_catalog.pg_stat_activity as sessions on sessions.pid = locks.pid
    where locks.locktype = 'virtualxid' and locks.mode = 'ExclusiveLock' and locks.granted
    and sessions.datname = pg_catalog.current_database() and sessions.pid <> pg_catalog.pg_backend_pid()
    and (sessions.backend_xid is not null or sessions.backend_xmin is not null)
    and not exists (select from pg_catalog.pg_stat_progress_vacuum as vacuum
      where vacuum.pid = coalesce(sessions.leader_pid, sessions.pid))
    union all
    select 'prepared ' || gid from pg_catalog.pg_prepared_xacts where database = pg_catalog.current_database()
  ) as open
  where $1::text[] is null or open.transaction = any($1::text[]);

  with lost as materialized (
    select deleted.id, deleted.name
    from rows from (pg_catalog.unnest($1::int[]), pg_catalog.unnest($2::text[])) as deleted (id, name)
    where not exists (
      select from "worker"._private_tasks as names where names.id = deleted.id and names.identifier = deleted.name
    )
  ), used as materialized (
    select distinct jobs.task_id as id
    from "worker"._private_jobs as jobs
    where not $3::boolean and exists (select from lost)
    and jobs.task_id = any(array(select id from lost))
  ), due as materialized (
    select id, name from lost where $3::boolean or id in (select id from used)
  ), back as (
    insert into "worker"._private_tasks (id, identifier) overriding system value
    select id, name from due order by name
    on conflict do nothing
    returning id
  ), total as (
    select (select pg_catalog.count(*)::int from back) as rows,
      (select pg_catalog.count(*)::int from due where id not in (select id from back)) as taken
  )
  select total.rows, total.taken, case when total.rows + total.taken > 0 then pg_catalog.pg_notify('jobs:insert', pg_catalog.format('{"r":%s,"count":%s}', pg_catalog.random(), 1)) end
  from total;

  update "worker"._private_jobs as jobs
  set task_id = names.id
  from rows from (pg_catalog.unnest($1::int[]), pg_catalog.unnest($2::text[])) as deleted (id, name)
  join "worker"._private_tasks as names on names.identifier = deleted.name
  where jobs.task_id = deleted.id and names.id <> deleted.id
