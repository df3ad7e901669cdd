// Checks job ids that callers pass. An id is a decimal string, because a JavaScript number cannot hold every bigint
// of PostgreSQL exactly.
import { InputError, type Problem } from "../base/errors.ts";

/**
 * The maximum number of ids in one call. It limits how many rows a statement locks, and the size of the statement's
 * result.
 */
export const MAX_IDS = 10_000;

const MAX_BIGINT = 9_223_372_036_854_775_807n;
const MAX_PROBLEMS = 100;

/** Whether `text` is a decimal integer from 1 to 9223372036854775807, without leading zeros. */
export function isJobId(text: unknown): text is string {
  return typeof text === "string" && /^[1-9]\d{0,18}$/.test(text) && BigInt(text) <= MAX_BIGINT;
}

/** Returns the distinct ids. Throws InputError unless `ids` has 1 to 10,000 items, and each is a valid job id. */
export function checkedJobIds(ids: readonly string[]): string[] {
  if (!Array.isArray(ids) || ids.length === 0) {
    throw new InputError([{ path: "ids", message: "must list at least one job id" }]);
  }
  if (ids.length > MAX_IDS) {
    const message = `must have at most ${MAX_IDS} ids; split them into several calls`;
    throw new InputError([{ path: "ids", message }]);
  }
  const problems: Problem[] = [];
  for (const [index, id] of ids.entries()) {
    if (!isJobId(id)) problems.push({ path: `ids[${index}]`, message: FORM });
  }
  if (problems.length > 0) throw new InputError(problems.slice(0, MAX_PROBLEMS));
  return [...new Set(ids)];
}

/** Returns the id, or throws InputError. */
export function checkedJobId(id: string): string {
  if (!isJobId(id)) throw new InputError([{ path: "id", message: FORM }]);
  return id;
}

const FORM = `must be a job id: a decimal string from 1 to ${MAX_BIGINT}`;
