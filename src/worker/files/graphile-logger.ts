// A logger that takes Graphile Worker's calls, the sentence first, and ours, the fields first.
import type { Logger } from "../../base/logger.ts";

/** Both ways to say something: `info("sent", { to })` and `info({ to }, "sent")`. */
export interface Say {
  (message: string, fields?: object): void;
  (fields: object, message: string): void;
}

/** The logger of a task that is a file: Graphile Worker's methods and ours. */
export interface FileLogger {
  readonly debug: Say;
  readonly info: Say;
  readonly warn: Say;
  readonly error: Say;
  log(level: "debug" | "info" | "warning" | "error", message: string, fields?: object): void;
  /** A logger whose lines carry these fields, too. */
  scope(fields: object): FileLogger;
}

export function fileLogger(logger: Logger, scope: object = {}): FileLogger {
  const say =
    (level: "debug" | "info" | "warn" | "error"): Say =>
    (first: string | object, second?: string | object) => {
      const [fields, message] = typeof first === "object" ? [first, second] : [second, first];
      logger[level]({ ...scope, ...(fields as object | undefined) }, String(message));
    };
  const own = { debug: say("debug"), info: say("info"), warn: say("warn"), error: say("error") };
  return {
    ...own,
    log: (level, message, fields = {}) =>
      own[level === "warning" ? "warn" : level](fields, message),
    scope: (fields) => fileLogger(logger, { ...scope, ...fields }),
  };
}
