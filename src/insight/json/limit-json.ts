// Limits as JSON.
import type { LimitDetails } from "../limits/limit-details.ts";
import type { LimitUse, QueueUse } from "../limits/limit-use.ts";
import { idJson } from "./exact-json.ts";

/** The maximum number of queues in `full`. */
const MAX_FULL = 10;

export function limitJson(use: LimitUse) {
  const { limit, backingOff } = use;
  const { definition, isFromCode, setBy, setAt, revision } = limit;
  const { name, scope, match, concurrency, rate } = definition;
  return {
    ...{ name, scope, match, concurrency },
    rate: rate === null ? null : { limit: rate.limit, per_ms: rate.perMs, burst: rate.burst },
    ...{ from_code: isFromCode, set_by: setBy, set_at: setAt.toISOString(), revision },
    running: use.running,
    waiting: use.waiting.value,
    waiting_precision: use.waiting.precision,
    queues: use.queues,
    full: use.busy
      .filter(({ isFull }) => isFull)
      .slice(0, MAX_FULL)
      .map(queueJson),
    full_queues: use.fullQueues,
    state: use.state,
    cause: backingOff === null ? use.fullBecause : backingOff.reason,
    backing_off:
      backingOff === null
        ? null
        : { until: backingOff.until.toISOString(), reason: backingOff.reason },
  };
}

const queueJson = ({ name, running, slots, waiting }: QueueUse) => ({
  ...{ name, running, slots, waiting: waiting.value },
});

export function limitDetailsJson(use: LimitUse, { permits, backOffs }: LimitDetails) {
  return {
    ...limitJson(use),
    permits: permits.map(({ workerId, permits: count, inUse, wanted }) => ({
      ...{ worker_id: workerId, permits: count, in_use: inUse, wanted },
    })),
    queue_rows: use.busy.map(queueJson),
    back_offs: backOffs.map(({ scope, name, beganAt, until, reason, jobId, task }) => ({
      ...{ scope, name, began_at: beganAt.toISOString(), until: until.toISOString(), reason },
      ...{ job_id: idJson(jobId), task },
    })),
  };
}
