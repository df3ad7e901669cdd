// The logger of an operation that a command runs: on a terminal the printed result is enough, without info lines.
import type { Logger } from "../../base/logger.ts";

/** Returns a logger whose info lines are shown on a terminal only with --verbose. */
export function quietLogger(logger: Logger): Logger {
  return process.stderr.isTTY ? { ...logger, info: logger.debug } : logger;
}
