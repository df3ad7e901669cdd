update "worker"._private_rates set tat = tat - $3::float8 * $4::float8 * interval '1 millisecond' where limit_id = $1::int and key = $2::text
  and pg_catalog.floor(extract(epoch from pg_catalog.now()) * 1000000::numeric)::float8 < $5::float8 + $6::float8 * 1000::float8
