// The counts as JSON, in two forms: the response of GET /api/counts, in which the counts have a precision, and the
// small event `pulse`, which has plain numbers.
import { conditions } from "../../domain/condition.ts";
import type { Value } from "../../domain/value.ts";
import { countWorkers, type QueueSnapshot } from "../snapshot/queue-snapshot.ts";

/** Explains why most running jobs of the fast mode do not count as running. */
const RUNNING_NOTE =
  "in the fast mode, jobs are locked by open transactions, and other connections cannot see which: they count as ready or retrying until they are done; running_reported includes them if all live workers report";

/** Returns the response of GET /api/counts. */
export function countsJson({ counts, fleet, rates }: QueueSnapshot): string {
  const values = conditions.map((condition) => [condition, counts.conditions[condition]]);
  return JSON.stringify({
    as_of: counts.asOf,
    total: counts.total,
    ...Object.fromEntries(values),
    retrying_due: counts.retryingDue,
    oldest_ready_at: counts.oldestReadyAt,
    next_due_at: counts.nextDueAt,
    longest_running_at: counts.longestRunningAt,
    last_failed_at: counts.lastFailureAt,
    running_reported: fleet.running,
    running_note: RUNNING_NOTE,
    per_minute: rates,
  });
}

/** Returns the number; null for a lower bound, which must not be shown as a plain number. */
const numberOf = ({ value, precision }: Value) => (precision === "capped" ? null : value);

/**
 * Returns the event `pulse`. `json`: the event, about 300 bytes. `comparable`: a text that is equal for two events if
 * only the time has changed between them, and with it the age of the oldest ready job.
 */
export function pulseJson(snapshot: QueueSnapshot): {
  readonly comparable: string;
  readonly json: string;
} {
  const { counts, rates, gauge } = snapshot;
  const members = {
    total: numberOf(counts.total),
    ...Object.fromEntries(conditions.map((one) => [one, numberOf(counts.conditions[one])])),
    exact: snapshot.isSmall,
    added: rates.added,
    done: rates.done,
    failing: rates.failed,
    locked_queues: gauge.lockedQueueIds.length,
    ...reportingWorkers(snapshot),
  };
  const comparable = JSON.stringify({ ...members, oldest_ready_at: counts.oldestReadyAt });
  const oldest = counts.oldestReadyAt === null ? null : Date.parse(counts.oldestReadyAt);
  const ageS = oldest === null ? null : Math.max(0, Math.round((gauge.nowMs - oldest) / 1_000));
  const json = JSON.stringify({ at: counts.asOf, ...members, oldest_ready_s: ageS });
  return { comparable, json };
}

function reportingWorkers(snapshot: QueueSnapshot) {
  const { alive, stale } = countWorkers(snapshot);
  return { alive, stale };
}
