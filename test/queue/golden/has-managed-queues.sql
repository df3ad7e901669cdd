select exists (select from "worker"._private_queue_slots) as has_slots
