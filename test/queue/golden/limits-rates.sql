select limit_id, key,
  (extract(epoch from tat - pg_catalog.clock_timestamp()) * 1000::numeric)::float8 as ahead_ms
from "worker"._private_rates where tat > pg_catalog.clock_timestamp() - interval '10 seconds'
order by tat desc limit 10000
