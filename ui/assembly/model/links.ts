/** The addresses of the pages, and the queries in these addresses. */
import { isLetter } from "../lib/letters";
import { encode } from "../lib/percent";
import { quote } from "../lib/quoting";

/** Returns the address of the jobs that a query finds (docs/queries.md). */
export function queryPath(query: string): string {
  return query.length > 0 ? "/jobs?q=" + encode(query) : "/jobs";
}

/** Returns a name as a value of a query, in quotes if it could mean something else without them. */
export function quoteIfNeeded(name: string): string {
  let isPlain = name.length > 0 && !name.startsWith(":") && name !== "none" && !name.includes("..");
  for (let i = 0; i < name.length && isPlain; i++) isPlain = isPlainLetter(name.charCodeAt(i));
  return isPlain ? name : quote(name);
}

/** Whether the character needs no quotes: a letter, a digit, or one of `-./:@_`. */
function isPlainLetter(c: i32): bool {
  return isLetter(c) || (c >= 0x2d && c <= 0x3a) || c === 0x40 || c === 0x5f;
}

/** Returns the address of the jobs in one condition. */
export function conditionPath(condition: string): string {
  return queryPath("is:" + condition);
}

/** Returns the query for the jobs of a queue. */
export function queueQuery(queue: string): string {
  return "queue:" + quote(queue);
}

/** Returns the address of the jobs of a task, which serves as the page of the task. */
export function taskPath(task: string): string {
  return queryPath("task:" + quoteIfNeeded(task));
}

/** Whether a name may be a part of a path. Browsers and proxies remove parts that are empty, `.` or `..`. */
export function isPathPart(name: string): bool {
  return name.length > 0 && name !== "." && name !== "..";
}

export function queuePath(queue: string): string {
  return isPathPart(queue) ? "/queues/" + encode(queue) : "/queue?name=" + encode(queue);
}

export function limitPath(limit: string): string {
  return "/limits/" + encode(limit);
}

export function cronPath(entry: string): string {
  return "/cron/" + encode(entry);
}

export function workerPath(worker: string): string {
  return "/workers/" + encode(worker);
}

/** Returns the address of one group of errors, by its fingerprint. */
export function errorPath(fingerprint: string): string {
  return "/errors/" + fingerprint;
}

/** Returns the address of an operation. The page there shows the operation's progress, and later its receipt. */
export function operationPath(id: i64): string {
  return "/activity/" + id.toString();
}

export function jobPath(id: i64): string {
  return "/jobs/" + id.toString();
}
