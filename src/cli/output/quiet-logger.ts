// The logger of commands that print an answer: on a terminal the answer is enough, without info lines.
import type { Logger } from "../../base/logger.ts";

/** Returns a logger whose info lines are shown on a terminal only with --verbose. */
export function quietLogger(logger: Logger): Logger {
  return process.stderr.isTTY ? { ...logger, info: logger.debug } : logger;
}
