/** The part of the URL after the `#`, such as `/jobs?q=is%3Afailed&sort=due`. Any text can be parsed without a trap. */
import { replaced } from "../lib/letters";
import { decode, encode } from "../lib/percent";

/** The length of the longest address that is parsed. A query has up to 4,000 characters, each encoded as up to nine. */
const MAX_LENGTH = 65536;
/** The path that an address gets if it is too long. No page has this path, so the page for unknown addresses opens. */
const NOWHERE = "?";

export class Address {
  constructor(
    readonly path: string,
    private readonly query: Map<string, string>,
  ) {}

  /** Returns a member of the query; empty if it is absent. */
  value(name: string): string {
    return this.query.has(name) ? this.query.get(name) : "";
  }

  /**
   * Returns this address with another value of one member; an empty value removes the member. If `name` is not
   * `cursor`, also removes the member `cursor`, so that a list begins with its first page.
   */
  with(name: string, value: string): string {
    return this.but(name, value, "cursor");
  }

  /** Like with(), but keeps `cursor`, so that the address shows the same page of a list. */
  beside(name: string, value: string): string {
    return this.but(name, value, name);
  }

  private but(name: string, value: string, dropped: string): string {
    const parts: string[] = [];
    const names = this.query.keys();
    for (let i = 0; i < names.length; i++) {
      if (names[i] === name || names[i] === dropped) continue;
      parts.push(names[i] + "=" + encode(this.query.get(names[i])));
    }
    if (value.length > 0) parts.push(name + "=" + encode(value));
    return parts.length > 0 ? this.path + "?" + parts.join("&") : this.path;
  }
}

export function parseAddress(text: string): Address {
  const query = new Map<string, string>();
  if (text.length > MAX_LENGTH) return new Address(NOWHERE, query);
  const mark = text.indexOf("?");
  const path = mark < 0 ? text : text.substring(0, mark);
  const parts = text.substring(mark < 0 ? text.length : mark + 1).split("&");
  for (let i = 0; i < parts.length; i++) {
    const equals = parts[i].indexOf("=");
    if (equals < 0) continue;
    const value = decode(replaced(parts[i].substring(equals + 1), "+", "%20"));
    query.set(parts[i].substring(0, equals), value);
  }
  return new Address(path.length > 0 ? path : "/", query);
}
