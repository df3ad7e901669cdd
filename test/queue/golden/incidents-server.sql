  select pg_catalog.pg_is_in_recovery() as is_standby, oldest.*
  from (select) as one
  left join lateral (
    select pg_catalog.date_part('epoch', xact_start) as since_s, application_name as application, pid
    from pg_catalog.pg_stat_activity as sessions
    where datname = pg_catalog.current_database() and (backend_xmin is not null or backend_xid is not null)
      and xact_start < pg_catalog.now() - interval '15 minutes' and pid <> pg_catalog.pg_backend_pid()
      and not exists (select from pg_catalog.pg_stat_progress_vacuum as vacuum
      where vacuum.pid = coalesce(sessions.leader_pid, sessions.pid))
    order by xact_start limit 1
  ) as oldest on true
