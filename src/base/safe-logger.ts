// A logger whose methods never throw: a line that cannot be written must not fail a job, a fetch or a request.
import { types } from "node:util";
import { messageOf, UNSHOWN } from "./errors.ts";
import { type Logger, silentLogger } from "./logger.ts";
import { stderrLogger } from "./stderr-logger.ts";

type Level = "debug" | "info" | "warn" | "error";

/** Returns a logger that writes through `logger`. The first error of `logger` is reported on stderr. */
export function safeLogger(logger: Logger): Logger {
  if (logger === silentLogger) return logger;
  let isReported = false;
  const report = (error: unknown) => {
    if (isReported) return;
    isReported = true;
    stderrLogger.error({ error: messageOf(error) }, "the logger threw: the log is incomplete");
  };
  const at = (level: Level) => (fields: object, message: string) => {
    try {
      const written: unknown = logger[level](fields, message);
      if (types.isPromise(written)) written.catch(report);
    } catch (error) {
      report(error);
    }
  };
  return {
    ...{ debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") },
    isLevelEnabled(level) {
      try {
        return logger.isLevelEnabled?.(level) !== false;
      } catch (error) {
        report(error);
        return true;
      }
    },
  };
}

/**
 * Returns an object with `fields` and the fields of `more`, which is from a task. If a getter of `more` throws, the
 * object has a field named `fields`, with the text UNSHOWN, instead of the fields of `more`.
 */
export function joinedFields(fields: object, more: object | undefined): object {
  try {
    return { ...fields, ...more };
  } catch {
    return { ...fields, fields: UNSHOWN };
  }
}
