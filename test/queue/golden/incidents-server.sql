  select pg_is_in_recovery() as is_standby, oldest.*
  from (select) as one
  left join lateral (
    select date_part('epoch', xact_start) as since_s, application_name as application, pid
    from pg_stat_activity
    where datname = current_database() and (backend_xmin is not null or backend_xid is not null)
      and xact_start < now() - interval '15 minutes' and pid <> pg_backend_pid()
    order by xact_start limit 1
  ) as oldest on true
