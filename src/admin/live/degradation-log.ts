// Logs valid requests that could not be served: a statement that took too long (even if a less precise answer replaced
// its result), a lock that was not available, too many requests at once. Each cause has one line a minute, and at the
// end of the minute one line has the number of further cases.
import { type Clock, systemClock } from "../../base/clock.ts";
import type { Logger } from "../../base/logger.ts";

export interface DegradationLog {
  /** Logs or counts a case. `cause`: an error's code, or `statement_timeout`. */
  log(cause: string, fields: Readonly<Record<string, unknown>>): void;
  /** Logs the summary of the current minute. */
  close(): void;
}

const WINDOW_MS = 60_000;
/** Causes that are not logged here: the client has left, or the cause is logged elsewhere. */
const notLogged = new Set(["aborted", "database_unreachable", "not_ready"]);

/** `count` is called for each case. */
export function createDegradationLog(
  logger: Logger,
  count: (cause: string) => void,
  after: Clock["after"] = systemClock.after,
): DegradationLog {
  let stopWindow: (() => void) | null = null;
  /** A map from a cause to its cases in this minute after the first, which was logged. */
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
