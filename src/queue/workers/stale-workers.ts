// Defines which workers are stale: their last heartbeat, in their row of `_private_workers` (the heartbeat row), is
// older than the threshold. Right after an outage of the database, no heartbeat is recent. So a sweep by a worker finds
// no stale worker until heartbeats have succeeded for as long as the threshold (`uptime`).
import { ageMs } from "../sql/moments.ts";

/** A condition on a heartbeat row `workers`: a sweep has marked the worker as stale. Null without metadata. */
export const isRecovered = "workers.metadata ? 'recovered_at'::text";

/** An expression: the age of a worker's last heartbeat in milliseconds. */
export const AGE_MS = ageMs("workers.last_heartbeat_at");

// Workers of graphile_worker_rs declare no threshold. They use 300 s.
const UNDECLARED_MS = 300_000;

// Returns a condition: the worker's metadata has a number under this name that can be cast to float8. The cast of a
// number such as 1e999 would abort the whole statement.
export const hasNumber = (name: string): string =>
  `pg_catalog.jsonb_typeof(workers.metadata -> '${name}'::text) = 'number'
      and pg_catalog.length(workers.metadata ->> '${name}'::text) <= 25`;

/** Returns an expression: the number under this name, at least 0; null if hasNumber() is not true. */
export const reportedNumber = (name: string): string =>
  `case when ${hasNumber(name)}
      then greatest((workers.metadata ->> '${name}'::text)::float8, 0::float8) end`;

/** Returns SQL: the greater of the row's threshold and `given`, a manual sweep's threshold or "null". */
const threshold = (name: string, given: string) =>
  `case when ${hasNumber(name)}
      then greatest((workers.metadata ->> '${name}'::text)::float8, ${given}::float8)
      else coalesce(${given}::float8, ${UNDECLARED_MS}) end`;

/** Returns SQL: after how many ms without a heartbeat the jobs without `infrastructure_resilient` are recovered. */
export const thresholdOf = (given: string): string => threshold("threshold_ms", given);

/** Like thresholdOf(), for the jobs with the flag `infrastructure_resilient`. */
export const resilientThresholdOf = (given: string): string =>
  threshold("resilient_threshold_ms", given);

/** Returns a condition: the worker is stale. `uptime`: SQL for how long heartbeats have had no gap, in ms. */
export const isStale = (uptime: string, given: string): string =>
  `${AGE_MS} > case when ${isRecovered}
      then ${resilientThresholdOf(given)}
      else ${thresholdOf(given)} end
    and ${uptime}::float8 >= ${thresholdOf(given)}`;

/** A condition on a heartbeat row `workers`: the worker is shown as not responding. */
export const isNotResponding = `(coalesce(${isRecovered}, false) or ${AGE_MS} > ${thresholdOf("null")})`;

const MAX_AT_ONCE = 100;

/** Returns a query of stale workers. `recentMs` makes the query skip recent heartbeats by their index. */
export const staleWorkers = (s: string, uptime: string, recentMs: string): string => `
  select workers.id from ${s}._private_workers as workers
  where workers.last_heartbeat_at < pg_catalog.now() - ${recentMs}::float8 * interval '1 millisecond'
  and ${isStale(uptime, "null")}
  order by workers.last_heartbeat_at limit ${MAX_AT_ONCE}`;
