  select exists (select from pg_catalog.pg_attribute where attrelid = pg_catalog.to_regclass($2::text)::oid
      and attname = $3::text::name and not attisdropped)
    and pg_catalog.bool_and(coalesce(pg_catalog.has_table_privilege(pg_catalog.to_regclass(name), 'insert'), false)) as is_there
  from pg_catalog.unnest($1::text[]) as named (name);

  with recursive page as (
    select 0 as row_number, 0::bigint as page_bytes, coalesce($1::bigint, 9223372036854775807::bigint) as id
    union all
    select page.row_number + 1, page.page_bytes + next.bytes, next.id
    from page, lateral (
      select stored.id, (case when coalesce(pg_catalog.pg_column_size(stored.entry)::bigint * case pg_catalog.pg_column_compression(stored.entry)
      when 'lz4' then 255 when 'pglz' then 90 else 1 end, 0) <= 16777216::bigint then pg_catalog.octet_length(stored.entry::text) else 0 end)::bigint as bytes from "worker"._private_audit as stored
      where stored.id < page.id and ($3::float8 is null or stored.at >= pg_catalog.now() - $3::float8 * interval '1 second')
      order by stored.id desc limit 1
    ) as next
    where page.row_number < $2::int and page.page_bytes < 4194304::bigint
  )
  select page.id, page.page_bytes, case when coalesce(pg_catalog.pg_column_size(audit.entry)::bigint * case pg_catalog.pg_column_compression(audit.entry)
      when 'lz4' then 255 when 'pglz' then 90 else 1 end, 0) <= 16777216::bigint
      and pg_catalog.octet_length(audit.entry::text) <= 1048576::int then audit.entry end as json,
    audit.operation_id, pg_catalog.floor(extract(epoch from audit.at) * 1000000::numeric) as at_us
  from page join "worker"._private_audit as audit on audit.id = page.id
  where page.row_number > 0
  order by page.id desc
