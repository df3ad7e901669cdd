  delete from "worker"._private_rehearsals
  where id = $1::text and expires_at > now()
  returning rehearsal
