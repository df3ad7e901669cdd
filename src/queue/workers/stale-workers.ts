// Defines which workers are stale: those whose last heartbeat is older than the threshold in their heartbeat row. The
// sweeps that workers run and the manual sweep use the same conditions. A worker without a heartbeat row is unknown,
// not stale. The manual sweep and reset-stale-locks.ts remove old locks of unknown workers.
import { ageMs } from "../sql/moments.ts";

/** A condition on a heartbeat row `workers`: a sweep has marked the row. Without metadata, the condition is null. */
export const isRecovered = "workers.metadata ? 'recovered_at'::text";

/** An expression: the age of a worker's last heartbeat in milliseconds. */
export const AGE_MS = ageMs("workers.last_heartbeat_at");

// The threshold for workers whose row contains no threshold. Workers of graphile_worker_rs write none, and send a
// heartbeat once a minute. 300 s is also the threshold of that library.
const UNDECLARED_MS = 300_000;

// Returns a condition: the worker's metadata has a number under this name that can be cast to float8. JSON also
// allows 1e999, whose text in jsonb has 1,000 digits. A cast of it would abort the whole statement.
export const hasNumber = (name: string): string =>
  `pg_catalog.jsonb_typeof(workers.metadata -> '${name}'::text) = 'number'
      and pg_catalog.length(workers.metadata ->> '${name}'::text) <= 25`;

/** Returns an expression: the number under this name, 0 if it is negative; null if hasNumber() is not true. */
export const reportedNumber = (name: string): string =>
  `case when ${hasNumber(name)}
      then greatest((workers.metadata ->> '${name}'::text)::float8, 0::float8) end`;

/** Returns an expression. `given`: SQL for the threshold of a manual sweep, or "null". The greater threshold counts. */
const threshold = (name: string, given: string) =>
  `case when ${hasNumber(name)}
      then greatest((workers.metadata ->> '${name}'::text)::float8, ${given}::float8)
      else coalesce(${given}::float8, ${UNDECLARED_MS}) end`;

/** Returns an expression: the age of a heartbeat, in ms, at which the worker's non-resilient jobs are recovered. */
export const thresholdOf = (given: string): string => threshold("threshold_ms", given);

/** Returns an expression: the age at which the jobs with the flag `infrastructure_resilient` are recovered, too. */
export const resilientThresholdOf = (given: string): string =>
  threshold("resilient_threshold_ms", given);

/** Returns a condition on a row `workers`. `uptime`: SQL for how long heartbeats have had no gap, in ms (lease.ts). */
export const isStale = (uptime: string, given: string): string =>
  `${AGE_MS} > case when ${isRecovered}
      then ${resilientThresholdOf(given)}
      else ${thresholdOf(given)} end
    and ${uptime}::float8 >= ${thresholdOf(given)}`;

/** A condition on a heartbeat row `workers`: the worker is shown as not responding. The uptime is not checked. */
export const isNotResponding = `(coalesce(${isRecovered}, false) or ${AGE_MS} > ${thresholdOf("null")})`;

const MAX_AT_ONCE = 100;

/** Returns a part of the heartbeat's statement. By `recentMs`, the index on last_heartbeat_at excludes most workers. */
export const staleWorkers = (s: string, uptime: string, recentMs: string): string => `
  select workers.id from ${s}._private_workers as workers
  where workers.last_heartbeat_at < pg_catalog.now() - ${recentMs}::float8 * interval '1 millisecond'
  and ${isStale(uptime, "null")}
  order by workers.last_heartbeat_at limit ${MAX_AT_ONCE}`;
