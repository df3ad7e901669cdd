// The option `throttle` of an add: of equal jobs, at most one is added in a period.
import { hash } from "node:crypto";
import * as v from "valibot";
import { strict } from "../../base/validate.ts";
import {
  comparedText,
  comparedValues,
  type KeyParts,
  milliseconds,
  type Unique,
} from "../unique.ts";

/** Of equal jobs, at most one is added in a period: further adds are dropped. Each added job begins a period. */
export interface Throttle {
  /** The length of the period in milliseconds, at most a year. */
  readonly periodMs: number;
  /** The values that are compared, as in `unique.by`. The task is always compared. Default `["args"]`. */
  readonly by?: Unique["by"] | undefined;
}

export const throttleSchema = strict({
  periodMs: milliseconds,
  by: v.optional(comparedValues),
});

/** A checked throttle. */
export interface ResolvedThrottle {
  /** `t:` and the SHA-256, in base64url, of the text that comparedText() in unique.ts returns. */
  readonly key: string;
  readonly periodMs: number;
}

/**
 * Returns the throttle with its key. Throws InputError if the payload is not JSON, is nested too deeply, or lacks a
 * member that `by` names.
 */
export function resolveThrottle(
  job: KeyParts,
  { by = ["args"], periodMs }: v.InferOutput<typeof throttleSchema>,
): ResolvedThrottle {
  const compared = comparedText(job, by, { option: "throttle", mayBeList: true });
  return { key: `t:${hash("sha256", compared, "base64url")}`, periodMs };
}
