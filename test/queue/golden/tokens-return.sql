update "worker"._private_rates set tat = tat - $3::float8 * $4::float8 * interval '1 millisecond' where limit_id = $1::int and key = $2::text
