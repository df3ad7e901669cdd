// The target of the commands pause and resume: a queue, a task or all jobs. Both commands have the same fields for the
// target, check them alike, and name the target alike in their sentences.
import type { Problem } from "../../base/errors.ts";
import { shortName } from "../../domain/words.ts";
import { ALL, type PauseScope, type PauseTarget, pauseScopes } from "../../queue/pauses/pause.ts";
import { choice, optional, text } from "../declare/field.ts";

export const targetFields = {
  scope: choice(["What", "what to pause or resume: all, queue or task"], pauseScopes),
  name: optional(text(["Name", "name of the queue or task; omitted for all"], 1, 128)),
};

interface TargetInput {
  readonly scope: PauseScope;
  readonly name?: string | undefined;
}

export const targetOf = ({ scope, name }: TargetInput): PauseTarget => ({
  scope,
  name: name ?? ALL,
});

export function targetProblems({ scope, name }: TargetInput): Problem[] {
  if (scope === "all" && name !== undefined) {
    return [{ path: "name", message: "must be left out if the scope is all" }];
  }
  if (scope !== "all" && name === undefined) {
    return [{ path: "name", message: `is missing: the name of the ${scope}` }];
  }
  return [];
}

/** Returns the target's name within a sentence, such as `the queue mail` or `all jobs`. */
export const targetText = ({ scope, name = "" }: TargetInput): string =>
  scope === "all" ? "all jobs" : `the ${scope} ${shortName(name)}`;
