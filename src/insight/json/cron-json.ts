// Writes cron entries as JSON: a page of the list of entries, and the details of one identifier. The details are the
// entries with this identifier, the definition of the schedule, the next ticks and the changes of the schedule.
import { patternInWords } from "../../domain/cron/pattern-words.ts";
import type { CronDetails } from "../lists/cron/cron-details.ts";
import type { CronPage, ListedCronEntry } from "../lists/cron/list-cron.ts";
import { timeOfMs } from "./exact-json.ts";
import { scheduleJson, withZone } from "./schedule-json.ts";

export function cronListJson({ entries, nextCursor, count }: CronPage): string {
  const rows = entries.map(entryJson).join(",");
  const rest = JSON.stringify({ next_cursor: nextCursor, count });
  return `{"entries":[${rows}],${rest.slice(1)}`;
}

/** A change of a schedule, from the audit trail. */
export interface CronChange {
  readonly at: string;
  readonly by: string | null;
  readonly message: string;
}

export function cronDetailsJson(
  { entries, schedule, ticks, clockChange }: CronDetails,
  changes: readonly CronChange[],
): string {
  const next = ticks.map(({ atMs, local, utc, isAfterChange }) => ({
    ...{ at: timeOfMs(atMs), local, utc, is_after_change: isAfterChange },
  }));
  const rest = JSON.stringify({ ticks: next, clock_change: clockChange, changes });
  const definition = schedule === null ? "null" : scheduleJson(schedule);
  return `{"entries":[${entries.map(entryJson).join(",")}],"schedule":${definition},${rest.slice(1)}`;
}

/** Returns an entry as JSON. `pending_job_id` is inserted as digits, because a double cannot represent every job id. */
function entryJson(given: ListedCronEntry): string {
  const members = JSON.stringify({
    identifier: given.identifier,
    task: given.task,
    known_since: timeOfMs(given.knownSinceMs),
    last_execution: timeOfMs(given.lastExecutionMs),
    next_execution: timeOfMs(given.nextExecutionMs),
    late_since: timeOfMs(given.lateSinceMs),
    match: given.match,
    time_zone: given.timeZone,
    in_words: withZone(given.match === null ? null : patternInWords(given.match), given.timeZone),
    backfill: given.backfillSeconds === null ? null : Math.floor(given.backfillSeconds),
    workers: given.workers,
    worker_ids: given.workerIds,
    differs: given.differs,
    quarters_ahead: given.quartersAhead,
    source: given.source,
    paused_at: timeOfMs(given.pausedMs),
    jitter_secs: given.jitterMs === null ? null : given.jitterMs / 1_000,
    overlap: given.overlap,
    revision: given.revision,
  });
  return `${members.slice(0, -1)},"pending_job_id":${given.pendingJobId ?? "null"}}`;
}
