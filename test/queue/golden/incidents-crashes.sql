  select id, metadata ->> 'recovered_at'::text as recovered_at
  from "worker"._private_workers
  where metadata ? 'recovered_at'::text
  order by last_heartbeat_at desc limit 100
