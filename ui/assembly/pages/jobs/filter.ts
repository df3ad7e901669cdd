/** What narrows the list of jobs, in its address and in the API's. */
import { encode } from "../../lib/percent";
import { Address } from "../../model/address";
import { STATES } from "../../records/stats";

export class Filter {
  state: string = "all";
  identifier: string = "";
  queue: string = "";
  search: string = "";
  /** In the query language. */
  q: string = "";

  /** The query of both the page's address and the API's. */
  query(cursor: string): string {
    const parts: string[] = [];
    if (this.state !== "all") parts.push("state=" + this.state);
    if (this.identifier.length > 0) parts.push("identifier=" + encode(this.identifier));
    if (this.queue.length > 0) parts.push("queue=" + encode(this.queue));
    if (this.search.length > 0) parts.push("search=" + encode(this.search));
    if (this.q.length > 0) parts.push("q=" + encode(this.q));
    if (cursor.length > 0) parts.push("cursor=" + encode(cursor));
    return parts.join("&");
  }

  copy(): Filter {
    const other = new Filter();
    other.state = this.state;
    other.identifier = this.identifier;
    other.queue = this.queue;
    other.search = this.search;
    other.q = this.q;
    return other;
  }

  /** Whether anything but the state narrows the list. */
  get narrow(): bool {
    return this.identifier.length + this.queue.length + this.search.length + this.q.length > 0;
  }
}

export function filterIn(address: Address): Filter {
  const filter = new Filter();
  const state = address.value("state");
  if (STATES.includes(state)) filter.state = state;
  filter.identifier = address.value("identifier");
  filter.queue = address.value("queue");
  filter.search = address.value("search");
  filter.q = address.value("q");
  return filter;
}

export function jobsPath(filter: Filter, cursor: string): string {
  const query = filter.query(cursor);
  return query.length > 0 ? "/jobs?" + query : "/jobs";
}
