// The explanation of a job's condition as JSON.
import type { Cause } from "../why/cause.ts";
import type { JobExplanation } from "../why/explain-job.ts";
import { idJson } from "./exact-json.ts";
import { fixJson, linksJson } from "./insight-json.ts";

export function whyJson(why: JobExplanation) {
  return {
    id: idJson(why.id),
    condition: why.condition,
    sentence: why.sentence,
    since: why.since,
    causes: why.causes.map(causeJson),
    ahead: why.ahead,
    of: why.of,
    next_attempts: why.nextAttempts,
    last_attempt_at: why.lastAttemptAt,
    same_error: why.sameError,
    error_group: why.errorGroup,
    as_of: why.asOf,
  };
}

function causeJson({ kind, text, detail, isRoot, isBroken, links, fix }: Cause) {
  return {
    kind,
    text,
    detail,
    is_root: isRoot,
    is_broken: isBroken,
    links: linksJson(links),
    fix: fixJson(fix),
  };
}
