// The shell command for the action that a cause or an incident suggests.

import { commandLineOf } from "../../commands/operations/model/command-line.ts";
import { shellWord } from "../../domain/portable/shell-word.ts";
import type { Fix } from "../../insight/why/fix.ts";

export function lineOfFix(fix: Fix): string {
  if ("workerIds" in fix) return ["worker", "unlock", ...fix.workerIds.map(shellWord)].join(" ");
  if ("jobIds" in fix) return ["worker", fix.action, ...fix.jobIds].join(" ");
  if ("scope" in fix) {
    return [
      "worker",
      "resume",
      fix.scope,
      ...(fix.name === null ? [] : [shellWord(fix.name)]),
    ].join(" ");
  }
  return commandLineOf(fix.action, fix.q, {});
}
