// Tells of what could not be served although nothing was wrong with the question: a statement that took
// too long (also where a coarser answer took its place), a lock that was not to be had, too much at once.
// One line for each cause and minute, with its first case, and at the minute's end how many more there were.
import { type Clock, systemClock } from "../../base/clock.ts";
import type { Logger } from "../../base/logger.ts";

export interface DegradationLog {
  /** `cause`: an error's code, or `statement_timeout`. */
  tell(cause: string, fields: Readonly<Record<string, unknown>>): void;
  /** Tells of what has not been told yet. */
  close(): void;
}

const WINDOW_MS = 60_000;
/** The client has left, so nobody has missed an answer; or others tell of it, and probes ask for it. */
const untold = new Set(["aborted", "database_unreachable", "not_ready"]);

/** `count`: told of each case. */
export function createDegradationLog(
  logger: Logger,
  count: (cause: string) => void,
  after: Clock["after"] = systemClock.after,
): DegradationLog {
  let stopWindow: (() => void) | null = null;
  /** Of this minute: how many more than the one that was told of. */
  const more = new Map<string, number>();

  const endWindow = () => {
    stopWindow?.();
    stopWindow = null;
    const causes = Object.fromEntries([...more].filter(([, n]) => n > 0));
    more.clear();
    if (Object.keys(causes).length === 0) return;
    logger.warn({ more: causes }, "more could not be served in the last minute");
  };

  return {
    tell(cause, fields) {
      count(cause);
      if (untold.has(cause)) return;
      stopWindow ??= after(WINDOW_MS, endWindow);
      const before = more.get(cause);
      more.set(cause, before === undefined ? 0 : before + 1);
      if (before === undefined)
        logger.warn({ ...fields, cause }, "a request or a statement could not be served");
    },
    close: endWindow,
  };
}
