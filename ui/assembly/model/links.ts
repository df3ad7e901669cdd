/** The addresses that more than one page leads to. */
import { encode } from "../lib/percent";

export function statePath(state: string): string {
  return state === "all" ? "/jobs" : "/jobs?state=" + state;
}

export function queuePath(queue: string): string {
  return "/jobs?queue=" + encode(queue);
}

export function jobPath(id: i64): string {
  return "/jobs/" + id.toString();
}
