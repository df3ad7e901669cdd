// The fields of the commands on limits, and their conversion to a limit's definition.
import { InputError, type Problem } from "../../base/errors.ts";
import { validate } from "../../base/validate.ts";
import {
  type FullRate,
  type LimitDefinition,
  type LimitOptions,
  limitSchema,
  type Rate,
} from "../../domain/limits/limit.ts";
import { parseRate, RATE_FORM } from "../../domain/limits/limit-text.ts";
import { defaultBurst } from "../../domain/portable/default-burst.ts";
import { shortName } from "../../domain/words.ts";
import { type Input, name, optional, text, whole } from "../declare/field.ts";

export const limitName = name(["Limit", "name of the limit"], 128);

const PATTERN = "each * matches any text";

export const setFields = {
  name: limitName,
  task: optional(name(["Task", `task whose jobs are limited together; ${PATTERN}`], 128)),
  queue: optional(
    name(["Queue", `named queue; each matching queue has its own limit; ${PATTERN}`], 128),
  ),
  concurrency: optional(
    whole(["At once", "maximum number of jobs at once; 0: no maximum"], 0, 10_000),
  ),
  rate: optional(
    text(
      ["Rate", "maximum number of starts in a period: 100/s, 300/min, 10/250ms; empty: no maximum"],
      0,
      40,
      {
        example: "100/s",
      },
    ),
  ),
  burst: optional(
    whole(
      [
        "Burst",
        "jobs that may start at once after a quiet time; by default, and with 0, as many as the rate allows in 0.2 s",
      ],
      0,
      1_000_000,
    ),
  ),
};

export type SetInput = Input<typeof setFields>;

/** Returns words such as `the limit stripe`. */
export const namedLimit = (given: string): string => `the limit ${shortName(given)}`;

/**
 * Returns the new definition. Omitted fields usually keep the values of `old`. A given task or queue replaces the old
 * task or queue, and a new rate can change the burst (see changedRate). Throws InputError, whose problems have the
 * names of the command's fields.
 */
export function changedLimit(old: LimitDefinition | null, input: SetInput): LimitDefinition {
  const { name: given, task, queue, concurrency } = input;
  const keepsTarget = task === undefined && queue === undefined && old !== null;
  const options: LimitOptions = {
    name: given,
    ...(keepsTarget ? { [old.scope]: old.match } : { task, queue }),
    concurrency: concurrency === undefined ? (old?.concurrency ?? null) : concurrency || null,
    rate: changedRate(old?.rate ?? null, input),
  };
  try {
    return validate(limitSchema, options);
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    throw new InputError(error.problems.map((problem) => inWireNames(problem, old)));
  }
}

/**
 * Returns the new rate; null: no maximum. A new rate without a burst keeps an old burst that is not the default of the
 * old rate. If there is no such burst, the new rate gets its own default burst.
 */
function changedRate(old: FullRate | null, { rate: typed, burst }: SetInput): Rate | null {
  if (typed === undefined && old === null) {
    if (burst === undefined) return null;
    throw problem("burst", "needs a rate");
  }
  if (typed === undefined)
    return old === null ? null : { ...old, burst: changedBurst(old.burst, burst) };
  if (typed === "") {
    if (burst === undefined) return null;
    throw problem("burst", "needs a rate");
  }
  const parsed = parseRate(typed);
  if (parsed === null) throw problem("rate", RATE_FORM);
  const isUsual = old === null || old.burst === defaultBurst(old.limit, old.perMs);
  return { ...parsed, burst: changedBurst(isUsual ? undefined : old.burst, burst) };
}

/** A given 0 requests the default burst, which is returned as undefined. */
const changedBurst = (old: number | undefined, burst: number | undefined) =>
  burst === undefined ? old : burst || undefined;

const problem = (path: string, message: string) => new InputError([{ path, message }]);

const wireNames: Readonly<Record<string, string>> = {
  ...{ "rate.limit": "rate", "rate.perMs": "rate", "rate.burst": "burst" },
};

function inWireNames({ path, message }: Problem, old: LimitDefinition | null): Problem {
  const about = path === "rate.perMs" ? `the period ${message} ms` : message;
  const isEmpty = path === "" && message.startsWith("needs concurrency");
  const instead = isEmpty && old !== null ? "; to have no limit, remove it" : "";
  return { path: wireNames[path] ?? path, message: `${about}${instead}` };
}
