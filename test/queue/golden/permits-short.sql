select distinct limit_id from "worker"._private_limit_permits where wanted > permits
