select limit_id as id, pg_catalog.sum(permits)::int as permits, pg_catalog.sum(in_use)::int as in_use
from "worker"._private_limit_permits group by limit_id
