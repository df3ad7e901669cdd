// Structured logging through pino. Everything else takes the small `Logger` interface, so that an
// application can pass its own (pino, console-like, …). Lines go to stderr: stdout is for answers.
import type { DestinationStream, Level } from "pino";

/** What the library needs of a logger: fields first, then the sentence (pino's own shape). */
export interface Logger {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
  /** Whether lines of this level are written, as pino tells it. Without it all are. */
  isLevelEnabled?(level: "debug" | "info" | "warn" | "error"): boolean;
}

/** What createLogger() may be told. */
export interface LoggerOptions {
  /** `json`: a line per event; `text`: for people. Default `text`. */
  readonly format?: "json" | "text";
  /** Lowest level that is written. Default `info`. */
  readonly level?: Level;
}

const STDERR = 2;
/** What is kept of lines that cannot be written, such as while the disk is full; more are dropped. */
const MOST_KEPT_BYTES = 1_048_576;

const LEVELS = ["debug", "info", "warn", "error"] as const;

/** Whether it has what the library needs of a logger. */
export function isLogger(value: unknown): value is Logger {
  const methods = value as Partial<Logger> | null | undefined;
  return LEVELS.every((level) => typeof methods?.[level] === "function");
}

/** What is wrong with something that is no logger. */
export function loggerProblem(value: unknown): string {
  if (value instanceof Promise) return "is a promise: write `await createLogger()`";
  return "needs debug, info, warn and error";
}

/**
 * Builds a logger that writes lines to stderr. A promise, because pino is loaded when it is needed:
 * `logger: await createLogger()`.
 */
export function createLogger(options: LoggerOptions = {}): Promise<Logger> {
  return cleanLogger(options, (line) => line);
}

/** The same, whose JSON lines are what `clean` makes of them; one line ends with its line break. */
export async function cleanLogger(
  options: LoggerOptions,
  clean: (line: string) => string,
): Promise<Logger> {
  const { pino, destination, stdTimeFunctions } = (await import("pino")).default;
  const lines = destination({ dest: STDERR, sync: true, maxLength: MOST_KEPT_BYTES });
  // A full disk, or a reader that has gone, costs lines and never the process.
  lines.on("error", () => {});
  let stream: DestinationStream = { write: (line) => lines.write(clean(line)) };
  if (options.format !== "json") {
    const { prettyFactory } = (await import("pino-pretty")).default;
    const pretty = prettyFactory({
      colorize: process.stderr.isTTY === true,
      ignore: "pid,hostname",
      translateTime: "SYS:standard",
    });
    stream = { write: (line) => lines.write(pretty(line)) };
  }
  const base = options.format === "json" ? { pid: process.pid } : null;
  const level = options.level ?? "info";
  const logger: Logger = pino({ level, base, timestamp: stdTimeFunctions.isoTime }, stream);
  return logger;
}

/** A logger that says nothing: the default of everything that an application embeds. */
export const silentLogger: Logger = {
  debug: () => {},
  info: () => {},
  warn: () => {},
  error: () => {},
};
