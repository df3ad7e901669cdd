// Log lines beside an answer: a person who has just typed the command knows what it did.
import type { Logger } from "../../base/logger.ts";

/** On a terminal what is only information is shown with --verbose. */
export function quietly(logger: Logger): Logger {
  return process.stderr.isTTY ? { ...logger, info: logger.debug } : logger;
}
