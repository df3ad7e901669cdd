// Defines which workers are stale: those whose last heartbeat is older than their declared threshold. The
// same definition serves every worker's sweep and the manual one.
//
//   has a heartbeat row:  stale once its last heartbeat is older than its threshold
//   has none (unknown):  checked by the manual sweep only, by the age of its newest lock
import { ageMs } from "../sql/moments.ts";

/** A condition: the sweep has marked the worker in its metadata, because its ordinary jobs have been recovered. */
export const isRecovered = "workers.metadata ? 'recovered_at'::text";

/** An expression: the age of a worker's last heartbeat in milliseconds. */
export const AGE_MS = ageMs("workers.last_heartbeat_at");

// The threshold of workers that declare none. Each worker declares the length of its own lease, because the workers of
// a fleet may be configured differently. Workers of graphile_worker_rs declare nothing, send a heartbeat once a minute,
// and get 300 s as they do there.
const UNDECLARED_MS = 300_000;

/**
 * Returns a condition: the worker's metadata has a number under this name that can be cast to float8. JSON allows
 * 1e999, and a cast of it would abort the whole statement.
 */
export const hasNumber = (name: string): string =>
  `pg_catalog.jsonb_typeof(workers.metadata -> '${name}'::text) = 'number'
      and pg_catalog.length(workers.metadata ->> '${name}'::text) <= 25`;

/** Returns an expression: the number, at least 0; null if there is none, or it cannot be cast. */
export const reportedNumber = (name: string): string =>
  `case when ${hasNumber(name)}
      then greatest((workers.metadata ->> '${name}'::text)::float8, 0::float8) end`;

/** `given`: the manual sweep's threshold; SQL null: none. It replaces a missing or a shorter declared threshold. */
const threshold = (name: string, given: string) =>
  `case when ${hasNumber(name)}
      then greatest((workers.metadata ->> '${name}'::text)::float8, ${given}::float8)
      else coalesce(${given}::float8, ${UNDECLARED_MS}) end`;

/** Returns an expression: the milliseconds after which the ordinary jobs of a worker are recovered. */
export const thresholdOf = (given: string): string => threshold("threshold_ms", given);

/** Returns an expression: the milliseconds after which jobs with the flag infrastructure_resilient are recovered. */
export const resilientThresholdOf = (given: string): string =>
  threshold("resilient_threshold_ms", given);

/**
 * Returns a condition on a heartbeat row `workers`: its lease has expired. `uptime`: how long the sweeping worker's own
 * heartbeats have succeeded, in milliseconds; it must be at least the threshold of the row's worker.
 */
export const isStale = (uptime: string, given: string): string =>
  `${AGE_MS} > case when ${isRecovered}
      then ${resilientThresholdOf(given)}
      else ${thresholdOf(given)} end
    and ${uptime}::float8 >= ${thresholdOf(given)}`;

/** A condition on a heartbeat row `workers`: it is shown as not responding. The rule of the sweep is stricter. */
export const isNotResponding = `(coalesce(${isRecovered}, false) or ${AGE_MS} > ${thresholdOf("null")})`;

const MAX_AT_ONCE = 100;

/**
 * Returns the stale workers, for the sweep of a heartbeat. The first condition lets the index on last_heartbeat_at
 * exclude all healthy workers: a heartbeat within `recentMs` is recent enough.
 */
export const staleWorkers = (s: string, uptime: string, recentMs: string): string => `
  select workers.id from ${s}._private_workers as workers
  where workers.last_heartbeat_at < pg_catalog.now() - ${recentMs}::float8 * interval '1 millisecond'
  and ${isStale(uptime, "null")}
  order by workers.last_heartbeat_at limit ${MAX_AT_ONCE}`;
