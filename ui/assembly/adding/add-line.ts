/** Fills in the form for a new job from an existing job, and makes the shell command that has the effect of the form. */

import { Draft } from "../forms/draft";
import { DEADLINE, RETRY } from "../forms/flags";
import { typedTime } from "../forms/local-time";
import { argument, option, options, shellLine } from "../forms/shell-line";
import { ListedJob } from "../generated/records";
import { JsonReader } from "../lib/json-reader";
import { isoTime } from "../lib/time";
import { optionWords } from "./more-options";

/**
 * Fills in the fields of the form from `job`, except its time, its deadline and its key. An add with the same key could
 * change `job` instead of adding a new job.
 */
export function fill(draft: Draft, job: ListedJob): void {
  const task = job.taskIdentifier;
  const queue = job.queueName;
  draft.set("identifier", task === null ? "" : task);
  draft.set("payload", job.payload);
  if (queue !== null) draft.set("queue", queue);
  if (job.maxAttempts !== 25) draft.set("max_attempts", job.maxAttempts.toString());
  if (job.priority !== 0) draft.set("priority", job.priority.toString());
  const flags: string[] = [];
  const r = new JsonReader(job.flags);
  r.beginObject();
  while (r.nextKey()) {
    const flag = r.key();
    if (flag.startsWith(RETRY)) draft.set("retry", flag.substring(RETRY.length));
    // The deadline of the old job may have passed, so the new job has none.
    else if (!flag.startsWith(DEADLINE)) flags.push(flag);
    r.skip();
  }
  if (!r.failed) draft.set("flags", flags.join(", "));
}

/** Returns the shell command that adds a job with the fields that fill() copies. `now`: the server's time. */
export function addCommand(job: ListedJob, schema: string, now: f64): string {
  const draft = new Draft();
  fill(draft, job);
  return addLine(draft, schema, now);
}

/** Returns the shell command that has the effect of the form. A relative time such as `+10m` becomes absolute. */
export function addLine(draft: Draft, schema: string, now: f64): string {
  const payload = draft.value("payload").trim();
  let words = "add" + argument("identifier", draft.value("identifier"));
  if (payload.length > 0) words += argument("payload", payload);
  words += option("queue", draft.value("queue"));
  const at = typedTime(draft.value("run_at"), now);
  if (!isNaN(at)) words += " --run-at " + isoTime(at);
  words += option("max-attempts", draft.value("max_attempts"));
  words += option("key", draft.value("key"));
  if (hasKey(draft)) words += option("key-mode", draft.value("job_key_mode"));
  words += option("priority", draft.value("priority"));
  words += options("flag", draft.value("flags")) + optionWords(draft, now);
  return shellLine(words, schema);
}

export function hasKey(draft: Draft): bool {
  return draft.value("key").trim().length > 0;
}
