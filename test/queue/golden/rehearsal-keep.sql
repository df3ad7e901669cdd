  with deleted as (
    delete from "worker"._private_rehearsals
    where expires_at < pg_catalog.now() or id in (
      select id from "worker"._private_rehearsals
      where id not like 'used %'
      order by expires_at desc, id
      offset 999
    )
  )
  insert into "worker"._private_rehearsals (id, expires_at, rehearsal)
  values ($1::text, pg_catalog.now() + interval '15 minutes', $2::json)
