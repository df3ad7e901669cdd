  select not exists (select from "worker"._private_tasks) and case
      when pg_catalog.has_sequence_privilege(ids, 'select')
      then pg_catalog.pg_sequence_last_value(ids::regclass) is null else true end as is_unused
  from (select pg_catalog.pg_get_serial_sequence($1::text, 'id')::regclass::oid as ids) as jobs
