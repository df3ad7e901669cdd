  select pg_catalog.left(metadata ->> 'unsettled'::text, 65536) as unsettled from "worker"._private_workers
  where metadata ? 'unsettled'::text limit 100
