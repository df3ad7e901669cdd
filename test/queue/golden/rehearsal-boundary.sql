  select (select coalesce(max(id), 0) from "worker"._private_jobs) as max_id,
    floor(extract(epoch from now()) * 1000000) as now_us
