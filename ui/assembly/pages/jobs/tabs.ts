/**
 * The tabs of the list of jobs, with their counts: one tab for each condition, and one for all jobs. Also has the
 * default order of the list for a condition, the words for an order, such as *newest first*, and the heading of the
 * column of times.
 */

import { jobsPath, Terms } from "../../bar/terms";
import { capital, glyph } from "../../controls/glyph";
import { tab, tabs } from "../../controls/tabs";
import { valueText } from "../../controls/value";
import { conditionNamed, countOf, TABS } from "../../generated/conditions";
import { Value } from "../../generated/records";
import { Node, nothing } from "../../lib/node";
import { Model } from "../../model/model";

/** The tabs. `total`: how many jobs the query finds; null if unknown. */
export function conditionTabs(m: Model, terms: Terms, group: string, total: Value | null): Node {
  const list: Node[] = [];
  for (let i = 0; i < TABS.length; i++) {
    const condition = TABS[i];
    list.push(
      tab(
        jobsPath(terms.of(condition), group),
        capital(condition),
        tabCountText(m, terms, condition, total),
        glyph(condition),
        terms.condition === condition,
      ),
    );
  }
  const isAll = terms.condition.length === 0;
  list.push(
    tab(jobsPath(terms.of(""), group), "All", tabCountText(m, terms, "", total), nothing, isAll),
  );
  return tabs("State", list);
}

/**
 * Returns the count of a tab. The feed counts all jobs in a condition. If the query has other terms besides a
 * condition, these counts do not apply. Then only the current tab has a number: how many jobs the query finds.
 */
function tabCountText(m: Model, terms: Terms, condition: string, total: Value | null): string {
  if (terms.chips.length > 0) {
    return condition === terms.condition && total !== null ? valueText(total) : "";
  }
  return m.facts.has("counts") ? valueText(countOf(m.facts.counts, condition)) : "";
}

/** Returns the default order of the jobs in a condition. */
export function usualSort(condition: string): string {
  const data = conditionNamed(condition);
  return data === null ? "-id" : data.sort;
}

/** Returns the order in words, for the text after the page's heading. */
export function sortWords(sort: string, condition: string): string {
  if (sort === "-id") return "newest first";
  if (sort === "id") return "oldest first";
  if (sort === "-failed_at") return "newest failure first";
  if (sort === "running") {
    return condition === "running" ? "longest run first" : "longest lock first";
  }
  if (sort === "-attempts") return "most attempts first";
  if (sort === "priority") return "most urgent first";
  if (sort === "-updated_at") return "last changed first";
  const data = conditionNamed(condition);
  const waits = data !== null && data.waits;
  if (sort === "due") return waits ? "longest wait first" : "next due first";
  return waits ? "shortest wait first" : "last due first";
}

/** Returns the heading of the column with the time that matters in a condition. */
export function timeHead(condition: string): string {
  const data = conditionNamed(condition);
  return data === null ? "When" : data.timeHead;
}
