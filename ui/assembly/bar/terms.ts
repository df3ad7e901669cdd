/** A query as the page shows it: the condition as a tab, the other terms as chips. */

import { parseQuery } from "../../../src/domain/portable/query/parser";
import { ParsedNode, QueryFault } from "../../../src/domain/portable/query/tree";
import { CONDITIONS } from "../generated/conditions";
import { encode } from "../lib/percent";
import { unquote } from "../lib/quoting";
import { Address } from "../model/address";
import { quoteIfNeeded } from "../model/links";

/** One term. `queue:billing` has the field `queue:` and the value `billing`. */
export class Chip {
  constructor(
    readonly text: string,
    readonly field: string,
    readonly value: string,
  ) {}
}

export class Terms {
  /** The condition of the tab; empty: all conditions. */
  condition: string = "";
  chips: Chip[] = [];
  /** Why the query is invalid; null if it is valid. An invalid query has neither a condition nor chips. */
  fault: QueryFault | null = null;

  /** Returns the query without one of its chips. */
  without(index: i32): string {
    const rest: Chip[] = [];
    for (let i = 0; i < this.chips.length; i++) if (i !== index) rest.push(this.chips[i]);
    return written(this.condition, rest);
  }

  /** Returns the query with the terms of `more` added. A condition of `more` replaces this query's condition. */
  and(more: Terms): string {
    const condition = more.condition.length > 0 ? more.condition : this.condition;
    return written(condition, this.chips.concat(more.chips));
  }

  /** Returns the query with the same chips and another condition. */
  of(condition: string): string {
    return written(condition, this.chips);
  }
}

/** Returns the target of a pause or a limit: `task send` if the only chip is `task:send`; otherwise empty. */
export function taskTarget(terms: Terms): string {
  if (terms.chips.length !== 1) return "";
  const chip = terms.chips[0];
  const name = unquote(chip.value);
  return chip.text === "task:" + quoteIfNeeded(name) ? "task " + name : "";
}

export function termsOf(query: string): Terms {
  const terms = new Terms();
  const parsed = parseQuery(query, CONDITIONS);
  terms.fault = parsed.fault;
  const tree = parsed.tree;
  if (tree === null) return terms;
  const isList = tree.kind === "and" && tree.at === tree.items[0].at;
  const items = isList ? tree.items : [tree];
  for (let i = 0; i < items.length; i++) {
    const condition = terms.condition.length > 0 ? "" : conditionIn(items[i]);
    if (condition.length > 0) terms.condition = condition;
    else terms.chips.push(chipOf(query, items[i]));
  }
  return terms;
}

function chipOf(query: string, node: ParsedNode): Chip {
  const text = query.substring(node.at, node.end);
  // An `or` needs brackets beside other terms, because the `and` between terms has precedence over `or`.
  if (node.kind === "or" && node.at === node.items[0].at) {
    return new Chip(`(${text})`, "", text);
  }
  if (node.kind !== "field") return new Chip(text, "", text);
  const at = node.values[0].at - node.op.length - node.at;
  if (node.op === ":") return new Chip(text, text.substring(0, at + 1), text.substring(at + 1));
  const value = text.substring(at + node.op.length);
  return new Chip(text, text.substring(0, at), `${node.op} ${value}`);
}

/** Returns the condition of a term that has a tab, such as `is:failed`; empty for any other term. */
function conditionIn(node: ParsedNode): string {
  if (node.kind !== "field" || node.field !== "is" || node.values.length > 1) return "";
  if (node.op !== ":" && node.op !== "=") return "";
  const word = node.values[0].kind === "text" ? node.values[0].text : "";
  return CONDITIONS.includes(word) ? word : "";
}

function written(condition: string, chips: Chip[]): string {
  const parts: string[] = condition.length > 0 ? ["is:" + condition] : [];
  for (let i = 0; i < chips.length; i++) parts.push(chips[i].text);
  return parts.join(" ");
}

/** Returns the query of an address. Older parameters, such as `state`, become terms of the query. */
export function queryIn(address: Address): string {
  const parts: string[] = [];
  const q = address.value("q");
  const state = address.value("state");
  const task = address.value("identifier");
  const queue = address.value("queue");
  const search = address.value("search");
  if (q.length > 0) parts.push(q);
  if (state.length > 0 && state !== "all") parts.push("is:" + state);
  if (task.length > 0) parts.push("task:" + quoteIfNeeded(task));
  if (queue.length > 0) parts.push("queue:" + quoteIfNeeded(queue));
  if (search.length > 0) parts.push(quoteIfNeeded(search));
  return parts.join(" ");
}

/** Returns the address of the page with the query's jobs. `group`: what the jobs are grouped by; empty: a list. */
export function jobsPath(query: string, group: string): string {
  const parts: string[] = [];
  if (query.length > 0) parts.push("q=" + encode(query));
  if (group.length > 0) parts.push("group=" + group);
  return parts.length > 0 ? "/jobs?" + parts.join("&") : "/jobs";
}
