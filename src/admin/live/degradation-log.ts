// Logs 503 responses, failed reads of the feed, and statements that took too long: for each cause, the first case in a
// minute, and at the end of the minute the number of further cases.
import { type Clock, systemClock } from "../../base/clock.ts";
import type { Logger } from "../../base/logger.ts";

export interface DegradationLog {
  /** Logs a case, or counts it for the end of the minute. `cause`: an error's code, or `statement_timeout`. */
  log(cause: string, fields: Readonly<Record<string, unknown>>): void;
  /** Logs the numbers of further cases now. */
  close(): void;
}

const WINDOW_MS = 60_000;
/** `aborted`: the client has disconnected. The other causes are logged elsewhere. */
const notLogged = new Set(["aborted", "database_unreachable", "not_ready"]);

/** `count` is called for each case, logged or not. */
export function createDegradationLog(
  logger: Logger,
  count: (cause: string) => void,
  after: Clock["after"] = systemClock.after,
): DegradationLog {
  let stopWindow: (() => void) | null = null;
  /** The number of further cases of each cause in this minute. */
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
