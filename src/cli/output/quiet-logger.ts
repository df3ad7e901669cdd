// The logger of an operation that a command runs. On a terminal it leaves out info lines, because the printed result
// is enough.
import type { Logger } from "../../base/logger.ts";

/** Returns a logger whose info lines are shown on a terminal only with --verbose. */
export function quietLogger(logger: Logger): Logger {
  return process.stderr.isTTY ? { ...logger, info: logger.debug } : logger;
}
