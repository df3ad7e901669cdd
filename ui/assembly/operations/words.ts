/** Texts about an operation, and whether the operation runs or can be resumed. */
import { ageText } from "../controls/age";
import { countedValue } from "../controls/value";
import { quoted } from "../forms/shell-line";
import { jobActionNamed, withJobs } from "../generated/commands";
import { Operation } from "../generated/records";
import { lower } from "../lib/letters";
import { countText, numberText } from "../lib/number";

/** Returns `Retrying 8 jobs`, or if `done` is true, `Retried 8 jobs`. */
function phrase(name: string, done: bool, what: string): string {
  const action = jobActionNamed(name);
  if (action === null) return `${name} ${what}`;
  return withJobs(done ? action.done : action.doing, what);
}

/** Returns `Retried 8,388 of 8,400 jobs` if `all` is `8,400 jobs`, and `Retried 8,388 jobs` if `all` is empty. */
export function past(action: string, done: i64, all: string): string {
  return phrase(action, true, all.length > 0 ? `${numberText(done)} of ${all}` : jobs(done));
}

export function jobs(count: i64): string {
  return countText(count, "job", "jobs");
}

/** Whether a process runs the operation or its undo now. */
export function isAtWork(operation: Operation): bool {
  const state = operation.state;
  return state === "running" || state === "canary" || state === "undoing";
}

/** Whether the operation, or its undo, waits until a user resumes it. */
export function isResumable(operation: Operation): bool {
  return operation.state === "paused" || operation.state === "interrupted";
}

/** Returns the number of matched jobs, such as `8,400 jobs`; empty if the number is unknown. */
export function allOf(operation: Operation): string {
  const matched = operation.matched;
  return matched === null ? "" : countedValue(matched, "job", "jobs");
}

/** Whether the operation has a limit that is lower than the number of matched jobs. */
export function isLimited(operation: Operation): bool {
  const matched = operation.matched;
  const limit = operation.limit;
  return matched !== null && limit !== i64.MIN_VALUE && limit < matched.value;
}

/**
 * Returns the title, such as `Retrying 500 of 8,400 jobs`, `Paused: retrying 8,400 jobs`, `Retried 8,388 of 8,400 jobs`
 * or `Undone: 8,388 of 8,388 jobs`.
 */
export function titleOf(operation: Operation): string {
  const state = operation.state;
  const action = operation.action;
  const all = allOf(operation);
  const isOver = !isAtWork(operation) && !isResumable(operation);
  if (state === "undone")
    return `Undone: ${numberText(operation.undone)} of ${jobs(operation.done)}`;
  const title =
    isOver || state === "undoing"
      ? pastOf(operation)
      : phrase(
          action,
          false,
          isLimited(operation) ? `${numberText(operation.limit)} of ${all}` : all,
        );
  const before = beforeOf(state);
  return before.length > 0 ? `${before}: ${lower(title.charAt(0))}${title.substring(1)}` : title;
}

/**
 * Returns `Retried 8,388 of 8,400 jobs`, or `Retried 8,388 jobs` if the number of all jobs is unknown or obsolete. If a
 * limited operation has reached neither its limit nor its end, the second number is the limit.
 */
export function pastOf(operation: Operation): string {
  if (isLimited(operation) && operation.state !== "done" && operation.done < operation.limit)
    return past(operation.action, operation.done, jobs(operation.limit));
  return past(operation.action, operation.done, isOutnumbered(operation) ? "" : allOf(operation));
}

/** Whether the number of matched jobs is an obsolete estimate. */
function isOutnumbered(operation: Operation): bool {
  const matched = operation.matched;
  if (matched === null || matched.precision === "exact") return false;
  const isAll = operation.state === "done" && operation.done !== operation.limit;
  return isAll || operation.done > matched.value;
}

function beforeOf(state: string): string {
  if (state === "paused") return "Paused";
  if (state === "interrupted") return "Interrupted";
  if (state === "stopped") return "Stopped";
  if (state === "failed") return "Failed";
  return state === "undoing" ? "Undoing" : "";
}

/** Returns the settings, such as `first 5, then 50 a second, no more than 500`. */
export function settingsOf(operation: Operation): string {
  const begun = beginning(operation);
  if (operation.limit === i64.MIN_VALUE) return begun;
  const most = `no more than ${numberText(operation.limit)}`;
  return begun.length > 0 ? `${begun}, ${most}` : most;
}

function beginning(operation: Operation): string {
  const rate =
    operation.rate === i64.MIN_VALUE
      ? ""
      : operation.rate === 0
        ? "without pauses"
        : `${numberText(operation.rate)} a second`;
  if (operation.canary === i64.MIN_VALUE) return rate;
  const first = `first ${numberText(operation.canary)}, then `;
  return first + (rate.length > 0 ? rate : "the rest");
}

/** Returns the pace, such as `50 a second · 1 m 45 s left`. */
export function paceOf(operation: Operation): string {
  const parts: string[] = [];
  if (operation.ratePerS > 0) parts.push(`${numberText(operation.ratePerS)} a second`);
  if (operation.etaS > 0) parts.push(`${ageText(<f64>operation.etaS * 1000)} left`);
  return parts.join(" · ");
}

/**
 * Adds options to a command line: `worker retry is:failed` becomes `worker retry --schema=jobs --rate=5 is:failed`.
 * `options`: empty, or text such as ` --rate=5`.
 */
export function lineWith(line: string, schema: string, options: string): string {
  const at = line.indexOf(" ", line.indexOf(" ") + 1);
  const where = schema === "worker" ? "" : ` --schema=${quoted(schema)}`;
  return line.substring(0, at) + where + options + line.substring(at);
}
