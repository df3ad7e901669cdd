/** The address of a page and back: `#/jobs?state=failed&queue=mail`. It never traps, whatever was pasted. */

import { parseWhole } from "../lib/number";
import { decode, encode } from "../lib/percent";

export enum Page {
  Overview,
  Jobs,
  Job,
  Queues,
  Workers,
  Maintenance,
  Unknown,
}

export const STATES: string[] = ["all", "ready", "scheduled", "locked", "failed"];

/** No address that this client writes is longer. */
const LONGEST = 8192;

export class Filter {
  state: string = "all";
  identifier: string = "";
  queue: string = "";
  search: string = "";

  /** The query of both the page's address and the API's. */
  query(cursor: string): string {
    const parts: string[] = [];
    if (this.state !== "all") parts.push("state=" + this.state);
    if (this.identifier.length > 0) parts.push("identifier=" + encode(this.identifier));
    if (this.queue.length > 0) parts.push("queue=" + encode(this.queue));
    if (this.search.length > 0) parts.push("search=" + encode(this.search));
    if (cursor.length > 0) parts.push("cursor=" + encode(cursor));
    return parts.join("&");
  }

  copy(): Filter {
    const other = new Filter();
    other.state = this.state;
    other.identifier = this.identifier;
    other.queue = this.queue;
    other.search = this.search;
    return other;
  }

  /** Whether anything but the state narrows the list. */
  get narrow(): bool {
    return this.identifier.length + this.queue.length + this.search.length > 0;
  }
}

export class Route {
  page: Page = Page.Overview;
  jobId: i64 = 0;
  filter: Filter = new Filter();
  /** Where the page of the list starts; the empty string: at its beginning. */
  cursor: string = "";
}

export function parseRoute(address: string): Route {
  const route = new Route();
  if (address.length > LONGEST) {
    route.page = Page.Unknown;
    return route;
  }
  const mark = address.indexOf("?");
  const path = mark < 0 ? address : address.substring(0, mark);
  if (path === "" || path === "/") route.page = Page.Overview;
  else if (path === "/jobs") route.page = Page.Jobs;
  else if (path === "/queues") route.page = Page.Queues;
  else if (path === "/workers") route.page = Page.Workers;
  else if (path === "/maintenance") route.page = Page.Maintenance;
  else route.page = Page.Unknown;
  if (path.startsWith("/jobs/")) {
    const id = parseWhole(path.substring(6));
    route.page = id.valid ? Page.Job : Page.Unknown;
    route.jobId = id.value;
  }
  if (mark >= 0) readQuery(route, address.substring(mark + 1));
  return route;
}

export function jobsPath(filter: Filter, cursor: string): string {
  const query = filter.query(cursor);
  return query.length > 0 ? "/jobs?" + query : "/jobs";
}

export function statePath(state: string): string {
  return state === "all" ? "/jobs" : "/jobs?state=" + state;
}

export function queuePath(queue: string): string {
  return "/jobs?queue=" + encode(queue);
}

export function jobPath(id: i64): string {
  return "/jobs/" + id.toString();
}

function readQuery(route: Route, query: string): void {
  const parts = query.split("&");
  for (let i = 0; i < parts.length; i++) {
    const equals = parts[i].indexOf("=");
    if (equals < 0) continue;
    const name = parts[i].substring(0, equals);
    const value = decode(parts[i].substring(equals + 1).replaceAll("+", "%20"));
    if (name === "state" && STATES.includes(value)) route.filter.state = value;
    else if (name === "identifier") route.filter.identifier = value;
    else if (name === "queue") route.filter.queue = value;
    else if (name === "search") route.filter.search = value;
    else if (name === "cursor") route.cursor = value;
  }
}
