// A pause as a phrase: "paused by ana until 2026-01-31 14:00: deploy".
import { momentText } from "../../domain/words.ts";
import type { Pause } from "../../queue/pauses/list-pauses.ts";

export function pauseText({ pausedBy, resumeAt, reason }: Omit<Pause, "scope" | "name">): string {
  const by = pausedBy === null ? "" : ` by ${pausedBy}`;
  const until = resumeAt === null ? "" : ` until ${momentText(resumeAt.getTime())}`;
  return `paused${by}${until}${reason === null || reason === "" ? "" : `: ${reason}`}`;
}

/** The same as JSON, without its target. */
export const pauseJson = ({
  pausedAt,
  resumeAt,
  reason,
  pausedBy,
}: Omit<Pause, "scope" | "name">) => ({
  at: pausedAt.toISOString(),
  until: resumeAt?.toISOString() ?? null,
  reason,
  by: pausedBy,
});
