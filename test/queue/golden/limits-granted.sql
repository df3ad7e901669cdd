select limit_id as id, pg_catalog.sum(permits)::int as granted
from "worker"._private_limit_permits group by limit_id
