// Writes a schedule as JSON.
import { patternInWords } from "../../domain/cron/pattern-words.ts";
import type { StoredSchedule } from "../../queue/schedules/schedule-row.ts";
import { timeOfMs } from "./exact-json.ts";

/** Returns a schedule as JSON text. The text of the payload is inserted unchanged. */
export function scheduleJson({ definition, revision, ...times }: StoredSchedule): string {
  const { entry, payloadText, jitterMs, overlap } = definition;
  const { expression, timeZone, jobKeyMode } = entry;
  const members = JSON.stringify({
    identifier: entry.identifier,
    task: entry.taskIdentifier,
    pattern: expression,
    time_zone: timeZone,
    in_words: withZone(patternInWords(expression), timeZone),
    backfill_secs: entry.fillMs / 1_000,
    jitter_secs: jitterMs / 1_000,
    overlap,
    queue: entry.queueName ?? null,
    max_attempts: entry.maxAttempts ?? null,
    priority: entry.priority ?? null,
    key: entry.jobKey ?? null,
    job_key_mode: jobKeyMode?.replaceAll("_", "-") ?? null,
    paused_at: timeOfMs(times.pausedMs),
    next_execution: timeOfMs(times.pausedMs === null ? times.nextMs : null),
    last_execution: timeOfMs(times.lastMs),
    revision,
  });
  return `${members.slice(0, -1)},"payload":${payloadText}}`;
}

/** Returns the words of a pattern, if there are any, and its time zone unless the zone is UTC or unknown (null). */
export function withZone(words: string | null, timeZone: string | null): string | null {
  if (timeZone === null || timeZone === "UTC") return words;
  return words === null ? `in ${timeZone}` : `${words} in ${timeZone}`;
}
