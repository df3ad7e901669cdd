// The logger of an operation that a command runs. On a terminal, info lines are shown only with --verbose, because the
// printed result is enough.
import type { Logger } from "../../base/logger.ts";

/** Returns the logger. If stderr is a terminal, the returned logger writes info lines at the level debug. */
export function quietLogger(logger: Logger): Logger {
  return process.stderr.isTTY ? { ...logger, info: logger.debug } : logger;
}
