  select pg_catalog.pg_terminate_backend(activity.pid, 1000) as has_ended
  from pg_catalog.pg_locks as locks join pg_catalog.pg_stat_activity as activity on activity.pid = locks.pid
  where locks.pid = $2::int and locks.locktype = 'advisory' and locks.objsubid = 1
    and ((locks.classid::bigint << 32) | locks.objid::bigint) = pg_catalog.hashtextextended('worker session ' || $1::text, 0)
    and locks.database = (select oid from pg_catalog.pg_database where datname = pg_catalog.current_database())
    and activity.usename = current_user
