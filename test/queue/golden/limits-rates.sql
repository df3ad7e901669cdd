select limit_id, key,
  ((extract(epoch from tat)::float8 - extract(epoch from pg_catalog.clock_timestamp())::float8) * 1000::float8) as ahead_ms
from "worker"._private_rates where pg_catalog.octet_length(key) <= 4096::int and tat > pg_catalog.clock_timestamp() - interval '10 seconds'
order by tat desc limit 10000
