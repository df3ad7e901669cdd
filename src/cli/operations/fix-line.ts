// The shell command for the action that a cause or an incident suggests.

import { commandLineOf } from "../../commands/operations/model/command-line.ts";
import { positionals } from "../../domain/portable/worker-line.ts";
import type { Fix } from "../../insight/why/fix.ts";

export function lineOfFix(fix: Fix): string {
  if ("workerIds" in fix) return `worker unlock ${positionals([...fix.workerIds])}`;
  if ("jobIds" in fix) return ["worker", fix.action, ...fix.jobIds].join(" ");
  if ("scope" in fix) {
    const { scope, name } = fix;
    return `worker resume ${positionals(name === null ? [scope] : [scope, name])}`;
  }
  return commandLineOf(fix.action, fix.q, {});
}
