// Logs 503 responses, failed reads of the feed, and statements that were cancelled because they took too long. Each
// cause has a line for its first case in a minute. If further cases follow, one line at the end of the minute has the
// number of further cases of each cause.
import { type Clock, systemClock } from "../../base/clock.ts";
import type { Logger } from "../../base/logger.ts";

export interface DegradationLog {
  /**
   * Logs a case if it is the first case of its cause in the current minute. Otherwise counts the case for the line at
   * the end of the minute. Does neither if the cause is in `notLogged`. `cause`: an error's code, or
   * `statement_timeout`.
   */
  log(cause: string, fields: Readonly<Record<string, unknown>>): void;
  /** Ends the current minute now: logs the numbers of further cases, if there were any. */
  close(): void;
}

const WINDOW_MS = 60_000;
/** Causes that are not logged here: `aborted` (the client has disconnected), and two that are logged elsewhere. */
const notLogged = new Set(["aborted", "database_unreachable", "not_ready"]);

/** `count` is called for each case, logged or not. */
export function createDegradationLog(
  logger: Logger,
  count: (cause: string) => void,
  after: Clock["after"] = systemClock.after,
): DegradationLog {
  let stopWindow: (() => void) | null = null;
  /** The number of cases of each cause in this minute, without the first, which was logged. */
  const more = new Map<string, number>();

  const endWindow = () => {
    stopWindow?.();
    stopWindow = null;
    const causes = Object.fromEntries([...more].filter(([, n]) => n > 0));
    more.clear();
    if (Object.keys(causes).length === 0) return;
    logger.warn({ more: causes }, "further cases of these causes in the last minute");
  };

  return {
    log(cause, fields) {
      count(cause);
      if (notLogged.has(cause)) return;
      stopWindow ??= after(WINDOW_MS, endWindow);
      const before = more.get(cause);
      more.set(cause, before === undefined ? 0 : before + 1);
      if (before === undefined)
        logger.warn({ ...fields, cause }, "a request or a statement could not be served");
    },
    close: endWindow,
  };
}
