// The shell command for the action that a cause or an incident suggests.

import { commandLineOf } from "../../commands/operations/model/command-line.ts";
import { shellWord } from "../../domain/portable/shell-word.ts";
import type { Verb } from "../../insight/why/verb.ts";

export function lineOfVerb(verb: Verb): string {
  if ("workerIds" in verb) return ["worker", "unlock", ...verb.workerIds.map(shellWord)].join(" ");
  if ("jobIds" in verb) return ["worker", verb.action, ...verb.jobIds].join(" ");
  return commandLineOf(verb.action, verb.q, {});
}
