// A logger that accepts its arguments in Graphile Worker's order (the message first) and in this library's order (the
// fields first).
import type { Logger } from "../../base/logger.ts";
import { joinedFields } from "../../base/safe-logger.ts";

/**
 * The logger of a task that is a file. `debug`, `info`, `warn` and `error` accept their arguments in Graphile Worker's
 * order, `info("sent", { to })`, and in the order of pino and of this library, `info({ to }, "sent")`.
 */
export interface FileLogger {
  /** Writes a line at level debug. */
  debug(message: string, fields?: object): void;
  /** Writes a line at level debug. */
  debug(fields: object, message: string): void;
  /** Writes a line at level info. */
  info(message: string, fields?: object): void;
  /** Writes a line at level info. */
  info(fields: object, message: string): void;
  /** Writes a line at level warn. */
  warn(message: string, fields?: object): void;
  /** Writes a line at level warn. */
  warn(fields: object, message: string): void;
  /** Writes a line at level error. */
  error(message: string, fields?: object): void;
  /** Writes a line at level error. */
  error(fields: object, message: string): void;
  /** Writes a line at the given level, like Graphile Worker's `log`. */
  log(level: "debug" | "info" | "warning" | "error", message: string, fields?: object): void;
  /** Returns a logger that adds these fields to its lines. */
  scope(fields: object): FileLogger;
}

export function fileLogger(logger: Logger, scope: object = {}): FileLogger {
  const at =
    (level: "debug" | "info" | "warn" | "error") =>
    (first: string | object, second?: string | object) => {
      const [fields, message] = typeof first === "object" ? [first, second] : [second, first];
      logger[level](joinedFields(scope, fields as object | undefined), String(message));
    };
  const own = { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") };
  return {
    ...own,
    log: (level, message, fields = {}) =>
      own[level === "warning" ? "warn" : level](fields, message),
    scope: (fields) => fileLogger(logger, joinedFields(scope, fields)),
  };
}
