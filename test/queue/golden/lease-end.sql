delete from "worker"._private_workers where id = any($1::text[])
