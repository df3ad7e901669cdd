// The errors that decide what follows an attempt. These errors are recognized by a symbol, not by their class, so a
// task and its worker may use different copies of the library.
import { types } from "node:util";
import { now } from "../../base/clock.ts";
import { InputError } from "../../base/errors.ts";
import { cancelledText } from "../../domain/words.ts";

const OUTCOME = Symbol.for("pg-job-worker.outcome");

/** The longest delay: ten years. */
export const MAX_DELAY_MS = 10 * 365 * 24 * 3_600_000;

/** The decision of an error. The form of the decision is the same in all versions of the library. */
type TaskOutcome =
  | { readonly kind: "permanent" }
  | { readonly kind: "snooze"; readonly untilMs: number | Date }
  | {
      readonly kind: "retry_after";
      readonly untilMs: number | Date | null;
      readonly backOff?: BackOffTarget | null;
    };

/**
 * Which jobs wait during a back-off. `task`: all jobs of the task. `queue`: all jobs of the job's named queue. `key`:
 * the same as `queue`. `limit:NAME`: all jobs under the limit NAME.
 */
export type BackOffTarget = "task" | "queue" | "key" | `limit:${string}`;

type Outcome =
  | { readonly kind: "permanent" }
  | { readonly kind: "snooze"; readonly delayMs: number }
  /** `delayMs`: null if the retry policy decides. */
  | {
      readonly kind: "retry_after";
      readonly delayMs: number | null;
      readonly backOff: BackOffTarget | null;
    };

/**
 * Fails the job for good: no attempt follows, even if `maxAttempts` allows more. The job's `max_attempts` is set to the
 * number of attempts made.
 */
export class PermanentFailure extends Error {
  /** `reason` and `cause`, the underlying error, are written to `last_error`. */
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
 * Ends the attempt, which does not count. The job runs again after `until`, and keeps its last error. Other jobs of
 * its named queue do not wait for the job. A job can snooze any number of times, so a job that must end needs a
 * `deadline`. Throws InputError for an invalid `until`.
 */
export class Snooze extends Error {
  /** The delay in milliseconds, or the time. */
  readonly until: number | Date;

  /** `until`: a delay in milliseconds (0 to ten years), or a time. */
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
 * Fails the attempt. If the job has attempts left, the next attempt follows after `until` instead of the delay of the
 * retry policy. `until` is a number of milliseconds (0 to ten years), a time, or a `Response` with a `Retry-After`
 * header (RFC 9110, section 10.2.3). For a response without a valid header, the retry policy decides. Throws InputError
 * for invalid input.
 *
 * With `backOff`, the attempt does not count, and until this job is due again, no worker of this library starts a job
 * of the BackOffTarget. For example, after a 429: `throw new RetryAfter(response, { backOff: "task" })`. If `until` is
 * 0 or in the past, the retry policy decides the delay. Without the tables of `worker migrate --with limits`, only this
 * job waits.
 */
export class RetryAfter extends Error {
  /** The delay in milliseconds, or the time; null if a response has no valid `Retry-After` header. */
  readonly until: number | Date | null;
  /** Which other jobs wait, too; null if only this job waits. */
  readonly backOff: BackOffTarget | null;

  /**
   * Without `backOff`, `message` and `cause` are written to `last_error`. With `backOff`, `message` is the reason of
   * the back-off instead; the default reason for a response is a text such as `429 from api.example.com`.
   */
  constructor(
    until: number | Date | RetryResponse,
    options?: { message?: string; cause?: unknown; backOff?: BackOffTarget },
  ) {
    const isResponse = hasHeaders(until);
    const target = options?.backOff ?? null;
    const status = isResponse ? ((target && hostText(until)) ?? statusText(until)) : null;
    super(options?.message ?? status ?? "retry later", options);
    this.name = "RetryAfter";
    this.backOff = checkedBackOff(target);
    this.until = isResponse ? fromHeader(until.headers.get("retry-after")) : checkedUntil(until);
  }

  /** @internal */
  get [OUTCOME](): TaskOutcome {
    return { kind: "retry_after", untilMs: this.until, backOff: this.backOff };
  }
}

/**
 * The abort reason of a job's signal after the job was cancelled (`utils.cancelJobs()`, `worker cancel`). If the
 * attempt then fails with any error, the job fails for good; if the attempt succeeds, the job is completed.
 */
export class JobCancelled extends Error {
  /** The reason that was given; null if none was given. */
  readonly reason: string | null;
  /** The user that cancelled the job; null if unknown. */
  readonly by: string | null;

  /** `cause`: the error with which the attempt has failed after its signal aborted. */
  constructor(reason: string | null, by: string | null = null, options?: { cause?: unknown }) {
    super(cancelledText(reason), options);
    this.name = "JobCancelled";
    this.reason = reason;
    this.by = by;
    // A stack would only show where the worker read the request.
    this.stack = this.message;
  }

  /** @internal */
  get [OUTCOME](): TaskOutcome {
    return { kind: "permanent" };
  }
}

/** Returns the outcome of an error; undefined if there is no valid one. Never throws, even if a getter does. */
export function outcomeOf(error: Error): Outcome | undefined {
  try {
    const { kind, untilMs, backOff }: Record<string, unknown> = Object(
      (error as OutcomeBrand)[OUTCOME],
    );
    if (kind === "permanent") return { kind };
    const delayMs = delayUntil(untilMs);
    if (kind === "snooze" && delayMs !== null) return { kind, delayMs };
    const isRetry = kind === "retry_after" && (delayMs !== null || untilMs === null);
    const target = isBackOff(backOff) ? backOff : null;
    return isRetry ? { kind, delayMs, backOff: target } : undefined;
  } catch {
    return undefined;
  }
}

type OutcomeBrand = { readonly [OUTCOME]?: unknown };

/** Returns a delay in milliseconds, limited to 0 to ten years; null if `until` is invalid. */
function delayUntil(until: unknown): number | null {
  const delayMs = types.isDate(until) ? until.getTime() - now() : until;
  const isDelay = typeof delayMs === "number" && Number.isFinite(delayMs);
  return isDelay ? Math.min(Math.max(0, delayMs), MAX_DELAY_MS) : null;
}

/** The part of a `Response` of fetch() that RetryAfter reads. */
export type RetryResponse = Pick<Response, "status" | "statusText" | "headers"> & {
  readonly url?: string;
};

const statusText = ({ status, statusText: text }: RetryResponse): string =>
  `HTTP ${status} ${text ?? ""}`.trim();

/** Returns, for example, `429 from api.example.com`. */
function hostText({ status, url = "" }: RetryResponse): string | null {
  const host = URL.canParse(url) ? new URL(url).host : "";
  return host === "" ? null : `${status} from ${host}`;
}

export const isBackOff = (given: unknown): given is BackOffTarget =>
  given === "task" ||
  given === "queue" ||
  given === "key" ||
  (typeof given === "string" && given.startsWith("limit:") && given.length > 6);

function checkedBackOff(given: BackOffTarget | null): BackOffTarget | null {
  if (given === null || isBackOff(given)) return given;
  const message = 'must be "task", "queue", "key" or "limit:NAME"';
  throw new InputError([{ path: "backOff", message }]);
}

function hasHeaders(until: unknown): until is RetryResponse {
  const { headers } = Object(until) as { readonly headers?: Partial<Headers> };
  return typeof headers?.get === "function";
}

function checkedUntil(until: unknown): number | Date {
  if (types.isDate(until) && Number.isFinite(until.getTime())) return until;
  if (typeof until === "number" && until >= 0 && until <= MAX_DELAY_MS) return until;
  throw new InputError([
    {
      path: "until",
      message:
        "must be a number of milliseconds from 0 to ten years, or a valid Date; RetryAfter also takes a Response",
    },
  ]);
}

/** Converts seconds, 1 to 64 digits, to milliseconds, at most ten years. Returns null for any other text. */
export function secondsIn(text: string): number | null {
  return /^\d{1,64}$/.test(text) ? Math.min(Number(text) * 1_000, MAX_DELAY_MS) : null;
}

// The formats of times in RFC 9110, section 5.6.7, and `UTC` or an offset in place of `GMT`. Date.parse() alone also
// accepts texts such as "Soon 5".
const HTTP_DATE =
  /^[A-Z][a-z]{2,8}, \d\d[ -][A-Z][a-z]{2}[ -](?:\d\d){1,2} \d\d:\d\d:\d\d (?:GMT|UTC|[+-]\d{4})$/;
const ASCTIME = /^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \d{4}$/;

/** Returns milliseconds or a Date; null if the header is missing or invalid. */
function fromHeader(header: string | null): number | Date | null {
  const text = header?.trim() ?? "";
  const date = ASCTIME.test(text) ? `${text} GMT` : text;
  const timeMs = date !== text || HTTP_DATE.test(text) ? Date.parse(date) : Number.NaN;
  return Number.isNaN(timeMs) ? secondsIn(text) : new Date(timeMs);
}
