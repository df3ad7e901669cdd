// Pauses, and the workers that have acknowledged them, as text and as JSON. The text of a pause is, for example,
// `paused by ana until …`.
import { byWorker, countText, momentText, numberText, shortName } from "../../domain/words.ts";
import type { Acknowledgement } from "./acknowledgement.ts";
import type { Pause } from "./list-pauses.ts";

export function pauseText({
  pausedBy,
  resumeAt,
  hasEnded,
  reason,
  isBackOff,
}: Omit<Pause, "scope" | "name">): string {
  const what = isBackOff ? "backing off" : "paused";
  if (hasEnded) {
    return `no longer ${what}, and continues when its running job has ended and a worker of this library runs`;
  }
  const by = pausedBy === null ? "" : ` by ${pausedBy}`;
  const until = resumeAt === null ? "" : ` until ${momentText(resumeAt.getTime())}`;
  return `${what}${by}${until}${reason === null || reason === "" ? "" : `: ${reason}`}`;
}

/** Returns `The queue mail is paused by ana until 2026-01-31T14:00:00Z: deploy`. */
export function pausedSubject(pause: Pause): string {
  const name = shortName(pause.name ?? "");
  const subject = pause.scope === "all" ? "Everything" : `The ${pause.scope} ${name}`;
  return `${subject} is ${pauseText(pause)}`;
}

/** Returns the pause as a JSON value, without the task or queue that is paused. */
export const pauseJson = ({
  pausedAt,
  resumeAt,
  reason,
  pausedBy,
  isBackOff,
}: Omit<Pause, "scope" | "name">) => ({
  at: pausedAt.toISOString(),
  until: resumeAt?.toISOString() ?? null,
  reason,
  by: pausedBy,
  backs_off: isBackOff,
});

/** The types of the members that acknowledgementJson() returns. */
export const acknowledgementShape = {
  acknowledged: "integer",
  waiting: "integer",
  waiting_for: "string[]",
} as const;

export const acknowledgementJson = ({ acknowledged, waiting, waitingFor }: Acknowledgement) => ({
  ...{ acknowledged, waiting },
  waiting_for: waitingFor,
});

const MAX_NAMED = 5;

/**
 * Returns `acknowledged by 7 of 8 workers; not by worker-3 (frozen or outdated?)`; null if there is no live worker.
 * `hasWaited`: whether the workers have had time to acknowledge the pause. If not, the text names no worker.
 */
export function acknowledgementText(
  { acknowledged, waiting, waitingFor }: Acknowledgement,
  hasWaited = true,
): string | null {
  const total = acknowledged + waiting;
  if (total === 0) return null;
  const done = `acknowledged by ${numberText(acknowledged)} of ${countText(total, "worker")}`;
  if (waiting === 0) return done;
  if (!hasWaited) return `${done} so far`;
  const names = waitingFor.slice(0, MAX_NAMED).map(byWorker);
  const others = waiting - names.length;
  const list = [...names, ...(others > 0 ? [`${numberText(others)} more`] : [])].join(", ");
  return `${done}; not by ${list} (frozen or outdated?)`;
}
