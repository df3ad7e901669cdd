/** The addresses that more than one page links to. If a page moves, they change here. */
import { isLetter } from "../lib/letters";
import { encode } from "../lib/percent";
import { quoted } from "../lib/quoting";

/** The jobs that a query finds (docs/queries.md). */
export function queryPath(query: string): string {
  return query.length > 0 ? "/jobs?q=" + encode(query) : "/jobs";
}

/** A name as a query has it: in quotes where it could be read as something else. */
export function named(name: string): string {
  let isPlain = name.length > 0 && !name.startsWith(":") && name !== "none" && !name.includes("..");
  for (let i = 0; i < name.length && isPlain; i++) isPlain = isPlainLetter(name.charCodeAt(i));
  return isPlain ? name : quoted(name);
}

/** Letters, digits, and `-./:@_` between them: a name that begins with another sign is not plain. */
function isPlainLetter(c: i32): bool {
  return isLetter(c) || (c >= 0x2d && c <= 0x3a) || c === 0x40 || c === 0x5f;
}

export function statePath(state: string): string {
  return state === "all" ? "/jobs" : conditionPath(state);
}

/** The jobs in one of the conditions. */
export function conditionPath(condition: string): string {
  return queryPath("is:" + condition);
}

/** The jobs of a queue, in the words of a query. */
export function queueQuery(queue: string): string {
  return "queue:" + quoted(queue);
}

export function queueJobsPath(queue: string): string {
  return queryPath("queue:" + named(queue));
}

/** A task's jobs are its page. */
export function taskPath(task: string): string {
  return queryPath("task:" + named(task));
}

/** No path has a part that is empty, `.` or `..`: browsers and proxies remove it. */
export function isPathPart(name: string): bool {
  return name.length > 0 && name !== "." && name !== "..";
}

export function queuePath(queue: string): string {
  return isPathPart(queue) ? "/queues/" + encode(queue) : "/queue?name=" + encode(queue);
}

export function workerPath(worker: string): string {
  return "/workers/" + encode(worker);
}

/** One group of errors, by its fingerprint. */
export function errorPath(fingerprint: string): string {
  return "/errors/" + fingerprint;
}

/** The progress of an operation, and then its receipt. */
export function operationPath(id: i64): string {
  return "/activity/" + id.toString();
}

export function jobPath(id: i64): string {
  return "/jobs/" + id.toString();
}
