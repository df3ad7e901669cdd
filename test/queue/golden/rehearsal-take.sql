  delete from "worker"._private_rehearsals
  where id = $1::text and expires_at > pg_catalog.now() and id not like 'used %'
  returning rehearsal
