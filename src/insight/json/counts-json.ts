// The counts as JSON: whole, each number with how well it is known, and as the small event that is sent
// every second.
import { conditions } from "../../domain/condition.ts";
import type { Value } from "../../domain/value.ts";
import { countWorkers, type QueueSnapshot } from "../known/queue-snapshot.ts";

/** What cannot be seen is said. */
const RUNNING_NOTE =
  "jobs that workers hold in the fast mode are locked by open transactions, which nobody else can see: they count as ready until they are done; running_reported has them, where all living workers report";

/** The answer of GET /api/counts. */
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

/** A lower bound says nothing without its word for it: null then. */
const numberOf = ({ value, precision }: Value) => (precision === "capped" ? null : value);

/** At most 300 bytes as an event: numbers alone, and one for how well they are known. */
export function pulseJson(known: QueueSnapshot): {
  readonly comparable: string;
  readonly json: string;
} {
  const { counts, rates, gauge } = known;
  const members = {
    total: numberOf(counts.total),
    ...Object.fromEntries(conditions.map((one) => [one, numberOf(counts.conditions[one])])),
    exact: known.isSmall,
    added: rates.added,
    done: rates.done,
    failing: rates.failed,
    locked_queues: gauge.lockedQueueIds.length,
    ...heard(known),
  };
  const comparable = JSON.stringify({ ...members, oldest_ready_at: counts.oldestReadyAt });
  const oldest = counts.oldestReadyAt === null ? null : Date.parse(counts.oldestReadyAt);
  const ageS = oldest === null ? null : Math.max(0, Math.round((gauge.nowMs - oldest) / 1_000));
  const json = JSON.stringify({ at: counts.asOf, ...members, oldest_ready_s: ageS });
  return { comparable, json };
}

function heard(known: QueueSnapshot) {
  const { alive, silent } = countWorkers(known);
  return { alive, silent };
}
