/** A job, and what helps it, as lines for a shell. Only commands that there are. */
import { Cause, ListedJob, Why } from "../../generated/records";
import { isDigit } from "../../lib/json-scanner";
import { isLetter } from "../../lib/letters";
import { isoTime } from "../../lib/time";

/** The command that does what the page's first verb does. */
export function commandOf(
  job: ListedJob,
  condition: string,
  why: Why | null,
  schema: string,
): string {
  const id = job.id.toString();
  const root = rootOf(why);
  if (root !== null) {
    const verb = root.verb;
    const worker = root.links.worker;
    if (verb !== null && verb.action === "force-unlock" && worker !== null) {
      return line("unlock " + quoted(worker), schema);
    }
  }
  if (condition === "failed") return line("retry " + id, schema);
  if (condition === "retrying" || condition === "scheduled") return line("run-now " + id, schema);
  return line("show " + id, schema);
}

/** The last cause that is marked as the root. */
export function rootOf(why: Why | null): Cause | null {
  if (why === null) return null;
  for (let i = why.causes.length - 1; i >= 0; i--) if (why.causes[i].isRoot) return why.causes[i];
  return null;
}

/** The line that adds a job like this one. */
export function addCommand(job: ListedJob, payload: string, schema: string): string {
  const task = job.taskIdentifier;
  const queue = job.queueName;
  const key = job.key;
  let words = `add ${quoted(task === null ? "" : task)} ${quoted(payload)}`;
  if (queue !== null) words += " --queue " + quoted(queue);
  if (job.state === "scheduled") words += " --run-at " + isoTime(job.runAt);
  if (job.maxAttempts !== 25) words += ` --max-attempts ${job.maxAttempts}`;
  if (key !== null) words += " --key " + quoted(key);
  if (job.priority !== 0) words += ` --priority=${job.priority}`;
  return line(words, schema);
}

/** A line of this command line, for the schema at hand. */
export function line(words: string, schema: string): string {
  return schema === "worker" ? "worker " + words : `worker ${words} --schema ${quoted(schema)}`;
}

/** As every shell of Unix reads it back. */
export function quoted(word: string): string {
  let plain = word.length > 0 && word.charCodeAt(0) !== 0x2d;
  for (let i = 0; plain && i < word.length; i++) {
    const c = word.charCodeAt(i);
    plain = isDigit(c) || isLetter(c) || ":.,_/@+-".includes(word.charAt(i));
  }
  return plain ? word : "'" + word.replaceAll("'", "'\\''") + "'";
}
