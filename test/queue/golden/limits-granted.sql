select limit_id as id, least(pg_catalog.sum(permits), 2147483647::bigint)::int as permits,
  least(pg_catalog.sum(in_use), 2147483647::bigint)::int as in_use
from "worker"._private_limit_permits group by limit_id
