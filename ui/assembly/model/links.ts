/** The addresses that more than one page leads to. Whoever moves a page changes them here. */
import { encode } from "../lib/percent";
import { quoted } from "../lib/quoted";

/** The jobs that a query finds (QUERIES.md). */
export function queryPath(query: string): string {
  return query.length > 0 ? "/jobs?q=" + encode(query) : "/jobs";
}

export function statePath(state: string): string {
  return state === "all" ? "/jobs" : "/jobs?state=" + state;
}

/** The jobs in one of the six conditions. */
export function conditionPath(condition: string): string {
  return queryPath("is:" + condition);
}

/** The jobs of a queue, in the words of a query. */
export function queueQuery(queue: string): string {
  return "queue:" + quoted(queue);
}

export function queueJobsPath(queue: string): string {
  return "/jobs?queue=" + encode(queue);
}

export function queuePath(queue: string): string {
  return "/queues/" + encode(queue);
}

export function workerPath(_worker: string): string {
  return "/workers";
}

/** One group of errors, by its fingerprint. */
export function errorPath(fingerprint: string): string {
  return "/errors/" + fingerprint;
}

export function jobPath(id: i64): string {
  return "/jobs/" + id.toString();
}
