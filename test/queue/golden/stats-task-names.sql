select id, identifier as name from "worker"._private_tasks where id = any($1::int[])
