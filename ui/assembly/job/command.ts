/** A job, and the action that helps it, as lines for a shell. They contain only commands that exist. */

import { argument, quoted, shellLine } from "../forms/shell-line";
import { firstActionFor } from "../generated/commands";
import { Cause, ListedJob, Why } from "../generated/records";
import { isoTime } from "../lib/time";

/** Returns the shell command of the page's primary action. */
export function commandOf(
  job: ListedJob,
  condition: string,
  why: Why | null,
  schema: string,
): string {
  const id = job.id.toString();
  const root = rootOf(why);
  if (root !== null) {
    const verb = root.fix;
    const worker = root.links.worker;
    if (verb !== null && verb.action === "force-unlock" && worker !== null) {
      return shellLine("unlock " + quoted(worker), schema);
    }
  }
  const first = firstActionFor(condition);
  return first !== null && first.needsNoInput
    ? shellLine(`${first.name} ${id}`, schema)
    : shellLine("show " + id, schema);
}

/** Returns the last cause that is marked as the root. */
export function rootOf(why: Why | null): Cause | null {
  if (why === null) return null;
  for (let i = why.causes.length - 1; i >= 0; i--) if (why.causes[i].isRoot) return why.causes[i];
  return null;
}

/** Returns the line that adds a job like this one. */
export function addCommand(job: ListedJob, payload: string, schema: string): string {
  const task = job.taskIdentifier;
  const queue = job.queueName;
  const key = job.key;
  let words = `add${argument("identifier", task === null ? "" : task)}${argument("payload", payload)}`;
  if (queue !== null) words += " --queue " + quoted(queue);
  if (job.state === "scheduled") words += " --run-at " + isoTime(job.runAt);
  if (job.maxAttempts !== 25) words += ` --max-attempts ${job.maxAttempts}`;
  if (key !== null) words += " --key " + quoted(key);
  if (job.priority !== 0) words += ` --priority=${job.priority}`;
  return shellLine(words, schema);
}
