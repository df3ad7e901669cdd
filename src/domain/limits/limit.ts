// A limit bounds how many jobs run at once, or start in a period, over all workers of this library.
import * as v from "valibot";
import { count, strict } from "../../base/validate.ts";
import { boundedText } from "../job-spec.ts";
import { defaultBurst } from "../portable/default-burst.ts";

export { matches } from "../portable/name-pattern.ts";

export const limitScopes = ["task", "queue"] as const;
/** Whether a limit is for the jobs of tasks or for the jobs of named queues. */
export type LimitScope = (typeof limitScopes)[number];

/** A rate. With `limit: 100, perMs: 1000, burst: 20`, at most 120 jobs start in any second. */
export interface Rate {
  /** The number of jobs that may start in `perMs`, 1–1,000,000. */
  readonly limit: number;
  /** The length of the period in milliseconds, from 1 to 86,400,000 (a day). */
  readonly perMs: number;
  /**
   * The number of jobs that may start at once after a quiet time, 1–1,000,000. Default: the number that may start in
   * 0.2 s, rounded up.
   */
  readonly burst?: number | undefined;
}

/** A rate with its burst. */
export interface FullRate {
  readonly limit: number;
  readonly perMs: number;
  readonly burst: number;
}

export interface LimitDefinition {
  readonly name: string;
  readonly scope: LimitScope;
  /** The name of a task or queue; each `*` in it matches any text. */
  readonly match: string;
  /** The most jobs that run at once; null: any number. */
  readonly concurrency: number | null;
  /** The most jobs that start in a period; null: any number. */
  readonly rate: FullRate | null;
}

/** The options of a limit: `name`, either `task` or `queue`, and at least one of `concurrency` and `rate`. */
export interface LimitOptions {
  /** The name of the limit, 1–128 characters, unique in the schema. */
  readonly name: string;
  /** The task whose jobs are limited; each `*` matches any text. All matching tasks share the limit. */
  readonly task?: string | undefined;
  /** The named queue whose jobs are limited; each `*` matches any text. Each matching queue has its own limit. */
  readonly queue?: string | undefined;
  /** The most jobs that run at once, 1–10,000; null, the default: any number. */
  readonly concurrency?: number | null | undefined;
  /** The most jobs that start in a period; null, the default: any number. */
  readonly rate?: Rate | null | undefined;
}

const name = boundedText(1, 128);
const optionsSchema = v.pipe(
  strict({
    // The name is a part of URLs. Browsers and proxies remove "." and ".." from URLs.
    name: v.pipe(
      name,
      v.check((text) => text !== "." && text !== "..", 'must not be "." or ".."'),
    ),
    task: v.optional(name),
    queue: v.optional(name),
    concurrency: v.nullish(count(10_000), null),
    rate: v.nullish(
      strict(
        {
          limit: count(1_000_000),
          perMs: count(86_400_000),
          burst: v.optional(count(1_000_000)),
        },
        {},
        "must be an object such as { limit: 100, perMs: 1000 }",
      ),
      null,
    ),
  }),
  v.check(
    ({ task, queue }) => (task === undefined) !== (queue === undefined),
    "needs either task or queue, and not both",
  ),
  v.check(
    ({ concurrency, rate }) => concurrency !== null || rate !== null,
    "needs concurrency, rate or both",
  ),
);

/** Checks LimitOptions and returns a LimitDefinition. */
export const limitSchema = v.pipe(
  optionsSchema,
  v.transform(
    ({ name, task, queue, concurrency, rate }): LimitDefinition => ({
      name,
      scope: task === undefined ? "queue" : "task",
      match: task ?? queue ?? "",
      concurrency,
      rate: rate && { ...rate, burst: rate.burst ?? defaultBurst(rate.limit, rate.perMs) },
    }),
  ),
);

/** Checks a list of at most 100 limits with different names. */
export const limitList = v.pipe(
  v.array(limitSchema, "must be a list of limits"),
  v.maxLength(100, "must have at most 100 limits"),
  v.check(
    (limits) => new Set(limits.map((limit) => limit.name)).size === limits.length,
    "must have limits of different names",
  ),
);

/** Returns `match` as a pattern for PostgreSQL's `like`, with `\` as the escape character. */
export const likePattern = (match: string): string =>
  match.replace(/[\\%_]/g, "\\$&").replaceAll("*", "%");
