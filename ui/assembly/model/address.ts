/** What stands behind the `#`: `/jobs?state=failed&queue=mail`. It never traps, whatever was pasted. */
import { decode } from "../lib/percent";

/** No address that this client writes is longer. */
const LONGEST = 8192;
/** A path that no page has. */
const NOWHERE = "?";

export class Address {
  constructor(
    readonly path: string,
    private readonly query: Map<string, string>,
  ) {}

  /** A member of the query; the empty string when it isn't there. */
  value(name: string): string {
    return this.query.has(name) ? this.query.get(name) : "";
  }
}

export function parseAddress(text: string): Address {
  const query = new Map<string, string>();
  if (text.length > LONGEST) return new Address(NOWHERE, query);
  const mark = text.indexOf("?");
  const path = mark < 0 ? text : text.substring(0, mark);
  const parts = text.substring(mark < 0 ? text.length : mark + 1).split("&");
  for (let i = 0; i < parts.length; i++) {
    const equals = parts[i].indexOf("=");
    if (equals < 0) continue;
    const value = decode(parts[i].substring(equals + 1).replaceAll("+", "%20"));
    query.set(parts[i].substring(0, equals), value);
  }
  return new Address(path.length > 0 ? path : "/", query);
}
