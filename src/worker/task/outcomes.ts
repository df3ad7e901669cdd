// Errors that a task throws to decide what follows its attempt. They are recognized by a symbol, so a task may
// use another copy of the library than its worker.
import { InputError } from "../../base/errors.ts";

const OUTCOME = Symbol.for("pg-job-worker.outcome");

/** Ten years. */
export const LONGEST_DELAY_MS = 10 * 365 * 24 * 3_600_000;

/** The decision in an error of this module. */
export type TaskOutcome =
  | { readonly kind: "permanent" }
  | { readonly kind: "snooze"; readonly untilMs: number | Date }
  | { readonly kind: "retry_after"; readonly untilMs: number | Date | null };

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
    const isResponse = typeof until === "object" && !(until instanceof Date);
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

/** Returns the outcome of an error, also of one from another copy of the library. */
export function outcomeOf(error: Error): TaskOutcome | undefined {
  try {
    return (error as { [OUTCOME]?: TaskOutcome })[OUTCOME];
  } catch {
    return undefined; // A proxy may refuse to be read.
  }
}

/** Returns the time from now until then, 0 to ten years; null for an invalid time. */
export function delayUntil(until: number | Date, nowMs: number): number | null {
  const delayMs = until instanceof Date ? until.getTime() - nowMs : until;
  return Number.isFinite(delayMs) ? Math.min(Math.max(0, delayMs), LONGEST_DELAY_MS) : null;
}

function checkedUntil(until: number | Date): number | Date {
  const isTime = until instanceof Date && Number.isFinite(until.getTime());
  const isDelay = typeof until === "number" && until >= 0 && until <= LONGEST_DELAY_MS;
  if (isTime || isDelay) return until;
  throw new InputError([
    { path: "until", message: "must be milliseconds from 0 to ten years, or a valid Date" },
  ]);
}

/** Returns the header's seconds or HTTP date; null if it is missing or invalid. */
function fromHeader(header: string | null): number | Date | null {
  const text = header?.trim().slice(0, 64) ?? "";
  if (/^\d{1,9}$/.test(text)) return Math.min(Number(text) * 1_000, LONGEST_DELAY_MS);
  const time = /^[A-Z][a-z]/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(time) ? null : new Date(time);
}
