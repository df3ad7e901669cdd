select pg_catalog.count(*)::int as count from "worker"._private_job_queues
