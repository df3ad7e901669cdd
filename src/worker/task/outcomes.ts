// Errors that a task throws to decide what follows its attempt. They are recognized by a symbol, so a task may
// use another copy of the library than its worker.
import { types } from "node:util";
import { now } from "../../base/clock.ts";
import { InputError } from "../../base/errors.ts";
import { cancelledText } from "../../domain/words.ts";

const OUTCOME = Symbol.for("pg-job-worker.outcome");

/** Ten years. */
export const LONGEST_DELAY_MS = 10 * 365 * 24 * 3_600_000;

/** The decision in an error of this module, as all versions of the library write it. */
type TaskOutcome =
  | { readonly kind: "permanent" }
  | { readonly kind: "snooze"; readonly untilMs: number | Date }
  | { readonly kind: "retry_after"; readonly untilMs: number | Date | null };

/** The decision as it is read. */
type Outcome =
  | { readonly kind: "permanent" }
  | { readonly kind: "snooze"; readonly delayMs: number }
  /** `delayMs`: null for the delay of the retry policy. */
  | { readonly kind: "retry_after"; readonly delayMs: number | null };

/**
 * Fails the job for good: no attempt follows, whatever `maxAttempts` allows. Its `max_attempts` becomes the
 * number of attempts made. `reason` and `cause` are kept in `last_error`.
 */
export class PermanentFailure extends Error {
  /** `reason`: the message of `last_error`. `cause`: the error behind it. */
  constructor(reason: string, options?: { cause?: unknown }) {
    super(reason, options);
    this.name = "PermanentFailure";
  }

  /** @internal */
  get [OUTCOME](): TaskOutcome {
    return { kind: "permanent" };
  }
}

/**
 * Ends the attempt without a result and without counting it: the job runs again after `until`, a delay in
 * milliseconds (0 to ten years) or a time. Its last error stays, and its named queue is free meanwhile.
 * A snooze has no limit of its own: give the job a `deadline` where it needs one. Throws InputError.
 */
export class Snooze extends Error {
  /** The delay in milliseconds, or the time. */
  readonly until: number | Date;

  /** `until`: a delay in milliseconds, 0 to ten years, or a time. */
  constructor(until: number | Date) {
    super("snoozed");
    this.name = "Snooze";
    this.until = checkedUntil(until);
  }

  /** @internal */
  get [OUTCOME](): TaskOutcome {
    return { kind: "snooze", untilMs: this.until };
  }
}

/**
 * Fails the attempt; the next one runs after `until` instead of the task's retry delay: milliseconds (0 to ten
 * years), a time, or a `Response` with a `Retry-After` header (RFC 9110, section 10.2.3). A response
 * without a valid header leaves the delay to the retry policy. The attempt counts. Throws InputError.
 */
export class RetryAfter extends Error {
  /** The delay in milliseconds, or the time; null where a response has none. */
  readonly until: number | Date | null;

  /** `until`: milliseconds, a time or a response. `message` and `cause` describe the failure in `last_error`. */
  constructor(
    until: number | Date | Pick<Response, "status" | "statusText" | "headers">,
    options?: { message?: string; cause?: unknown },
  ) {
    const isResponse = hasHeaders(until);
    const status = isResponse ? `HTTP ${until.status} ${until.statusText ?? ""}`.trim() : null;
    super(options?.message ?? status ?? "retry later", options);
    this.name = "RetryAfter";
    this.until = isResponse ? fromHeader(until.headers.get("retry-after")) : checkedUntil(until);
  }

  /** @internal */
  get [OUTCOME](): TaskOutcome {
    return { kind: "retry_after", untilMs: this.until };
  }
}

/**
 * The reason of the job's signal when the job was cancelled (`utils.cancelJobs()`, `worker cancel`). A task that then
 * throws, anything, fails the job for good; one that returns completes it. `by`: the user, where it is known.
 */
export class JobCancelled extends Error {
  /** The reason, as it was given; null without one. */
  readonly reason: string | null;
  /** The user that cancelled the job; null: not known. */
  readonly by: string | null;

  /** `cause`: the error that the task has thrown after its signal aborted. */
  constructor(reason: string | null, by: string | null = null, options?: { cause?: unknown }) {
    super(cancelledText(reason), options);
    this.name = "JobCancelled";
    this.reason = reason;
    this.by = by;
    // The place where the request was read explains nothing.
    this.stack = this.message;
  }

  /** @internal */
  get [OUTCOME](): TaskOutcome {
    return { kind: "permanent" };
  }
}

/**
 * Returns the outcome of an error, also of one from another copy of the library; undefined without a valid one. Any
 * object may have the symbol, and a proxy may refuse to be read.
 */
export function outcomeOf(error: Error): Outcome | undefined {
  try {
    const { kind, untilMs }: Record<string, unknown> = Object((error as Branded)[OUTCOME]);
    if (kind === "permanent") return { kind };
    const delayMs = delayUntil(untilMs);
    if (kind === "snooze" && delayMs !== null) return { kind, delayMs };
    const isRetry = kind === "retry_after" && (delayMs !== null || untilMs === null);
    return isRetry ? { kind, delayMs } : undefined;
  } catch {
    return undefined;
  }
}

type Branded = { readonly [OUTCOME]?: unknown };

/** Returns the time from now until then, 0 to ten years; null for an invalid time. */
function delayUntil(until: unknown): number | null {
  const delayMs = types.isDate(until) ? until.getTime() - now() : until;
  const isDelay = typeof delayMs === "number" && Number.isFinite(delayMs);
  return isDelay ? Math.min(Math.max(0, delayMs), LONGEST_DELAY_MS) : null;
}

function hasHeaders(until: unknown): until is Pick<Response, "status" | "statusText" | "headers"> {
  const { headers } = Object(until) as { readonly headers?: Partial<Headers> };
  return typeof headers?.get === "function";
}

function checkedUntil(until: unknown): number | Date {
  if (types.isDate(until) && Number.isFinite(until.getTime())) return until;
  if (typeof until === "number" && until >= 0 && until <= LONGEST_DELAY_MS) return until;
  throw new InputError([
    {
      path: "until",
      message: "must be milliseconds from 0 to ten years, a valid Date or, to retry, a Response",
    },
  ]);
}

/** The seconds of a text, as milliseconds of at most ten years; null for another text. */
export function secondsIn(text: string): number | null {
  return /^\d{1,64}$/.test(text) ? Math.min(Number(text) * 1_000, LONGEST_DELAY_MS) : null;
}

// RFC 9110, section 5.6.7. Date.parse() takes other texts for times, too, such as "Soon 5" for the year 2001.
const HTTP_DATE =
  /^[A-Z][a-z]{2,8}, \d\d[ -][A-Z][a-z]{2}[ -](?:\d\d){1,2} \d\d:\d\d:\d\d (?:GMT|UTC|[+-]\d{4})$/;
const ASCTIME = /^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \d{4}$/;

/** Returns the header's seconds or HTTP date; null if it is missing or invalid. */
function fromHeader(header: string | null): number | Date | null {
  const text = header?.trim() ?? "";
  const date = ASCTIME.test(text) ? `${text} GMT` : text;
  const timeMs = date !== text || HTTP_DATE.test(text) ? Date.parse(date) : Number.NaN;
  return Number.isNaN(timeMs) ? secondsIn(text) : new Date(timeMs);
}
