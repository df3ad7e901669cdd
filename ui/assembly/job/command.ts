/** Finds the action that a job needs, according to the root of its causes, and the shell command of this action. */

import { quoted, shellLine } from "../forms/shell-line";
import { firstActionFor } from "../generated/commands";
import { Cause, Fix, ListedJob, Why } from "../generated/records";

/** Returns the shell command of the page's primary action; `show` if there is none, or if the action has a form. */
export function commandOf(
  job: ListedJob,
  condition: string,
  why: Why | null,
  schema: string,
): string {
  const id = job.id.toString();
  const root = rootOf(why);
  const fix = repairOf(root, condition);
  if (root !== null && fix !== null) {
    const worker = root.links.worker;
    if (worker !== null) return shellLine("unlock " + quoted(worker), schema);
    return shellLine(`${fix.action} ${id}`, schema);
  }
  const first = firstActionFor(condition);
  return first !== null && first.needsNoInput && !isHopeless(why)
    ? shellLine(`${first.name} ${id}`, schema)
    : shellLine("show " + id, schema);
}

/** Returns the last cause that is marked as the root; null: there is none. */
export function rootOf(why: Why | null): Cause | null {
  if (why === null) return null;
  for (let i = why.causes.length - 1; i >= 0; i--) if (why.causes[i].isRoot) return why.causes[i];
  return null;
}

/** Returns the action that repairs a broken root. null: there is none, or it is also the condition's first action. */
export function repairOf(root: Cause | null, condition: string): Fix | null {
  if (root === null || !root.isBroken) return null;
  const fix = root.fix;
  if (fix === null) return null;
  const first = firstActionFor(condition);
  return first !== null && first.name === fix.action ? null : fix;
}

/** Whether the job has failed and the server offers no retry, because a retry would fail or may crash workers. */
export function isHopeless(why: Why | null): bool {
  const root = rootOf(why);
  return root !== null && root.kind === "exhausted" && root.fix === null;
}
