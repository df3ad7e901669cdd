// Structured logging through pino. Lines go to stderr, because stdout is for the output of commands.
import type { DestinationStream } from "pino";

/** The logger that this library needs. As in pino, the fields come first, then the message. */
export interface Logger {
  /** Writes a line at level debug. */
  debug(fields: object, message: string): void;
  /** Writes a line at level info. */
  info(fields: object, message: string): void;
  /** Writes a line at level warn. */
  warn(fields: object, message: string): void;
  /** Writes a line at level error. */
  error(fields: object, message: string): void;
  /** Whether lines of this level are written, as in pino. A logger without this method is called for every line. */
  isLevelEnabled?(level: "debug" | "info" | "warn" | "error"): boolean;
}

/** The logger of a task: its methods take a message, or fields and a message. */
export interface TaskLogger {
  /** Writes a line at level debug. */
  debug(message: string): void;
  /** Writes a line with fields at level debug. */
  debug(fields: object, message: string): void;
  /** Writes a line at level info. */
  info(message: string): void;
  /** Writes a line with fields at level info. */
  info(fields: object, message: string): void;
  /** Writes a line at level warn. */
  warn(message: string): void;
  /** Writes a line with fields at level warn. */
  warn(fields: object, message: string): void;
  /** Writes a line at level error. */
  error(message: string): void;
  /** Writes a line with fields at level error. */
  error(fields: object, message: string): void;
}

/** Options of createLogger(). */
export interface LoggerOptions {
  /** The format: `json`, a line of JSON for each log line, or `text`, for people. Default `text`. */
  readonly format?: "json" | "text";
  /** The lowest level that is written. Default `info`. */
  readonly level?: "trace" | "debug" | "info" | "warn" | "error" | "fatal";
}

const STDERR = 2;
/** The size of the buffer for lines that cannot be written at the moment. Lines that do not fit are dropped. */
const MAX_KEPT_BYTES = 1_048_576;

const LEVELS = ["debug", "info", "warn", "error"] as const;

/** Whether `value` has the methods that the library needs of a logger. */
export function isLogger(value: unknown): value is Logger {
  const methods = value as Partial<Logger> | null | undefined;
  return LEVELS.every((level) => typeof methods?.[level] === "function");
}

/** Describes why `value` is not a logger. */
export function loggerProblem(value: unknown): string {
  if (value instanceof Promise) return "is a promise: write `await createLogger()`";
  return "needs debug, info, warn and error";
}

/** Resolves to a logger that writes to stderr: `logger: await createLogger()`. */
export function createLogger(options: LoggerOptions = {}): Promise<Logger> {
  return cleanLogger(options, (line) => line);
}

/**
 * Like createLogger(), but the format `json` writes what `clean` returns for each line. The lines that `clean` receives
 * and returns end with a line break.
 */
export async function cleanLogger(
  options: LoggerOptions,
  clean: (line: string) => string,
): Promise<Logger> {
  const { pino, destination, stdTimeFunctions } = (await import("pino")).default;
  const lines = destination({ dest: STDERR, sync: true, maxLength: MAX_KEPT_BYTES });
  // A failed write, for example to a closed pipe, must not end the process.
  lines.on("error", () => {});
  let stream: DestinationStream = { write: (line) => lines.write(clean(line)) };
  if (options.format !== "json") {
    const { prettyFactory } = (await import("pino-pretty")).default;
    const pretty = prettyFactory({
      colorize: process.stderr.isTTY === true,
      ignore: "pid,hostname",
      translateTime: "SYS:standard",
    });
    stream = { write: (line) => lines.write(pretty(JSON.parse(line, exactInteger))) };
  }
  const base = options.format === "json" ? { pid: process.pid } : null;
  const level = options.level ?? "info";
  const logger: Logger = pino({ level, base, timestamp: stdTimeFunctions.isoTime }, stream);
  return logger;
}

/** A reviver of JSON.parse(): returns a whole number outside the safe range as its text. */
function exactInteger(_name: string, value: unknown, { source = "" }: { source?: string } = {}) {
  const isExact = typeof value !== "number" || Number.isSafeInteger(value);
  return isExact || !/^-?\d+$/.test(source) ? value : source;
}

/** A logger that writes nothing. */
export const silentLogger: Logger = {
  debug: () => {},
  info: () => {},
  warn: () => {},
  error: () => {},
};
