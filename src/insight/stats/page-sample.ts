// Which pages of the table a sample reads, and what follows from what is on them. One page at random
// out of each of so many equal stretches: jobs that were added together lie together, so a table sorted
// by outcome is the rule, and there a plain random sample knows little.
import type { Interval } from "../../domain/value.ts";

/** Ascending; all pages where there are no more than `count`. */
export function choosePages(pages: number, count: number, random = Math.random): number[] {
  const chosen = Math.min(pages, count);
  const stretch = pages / chosen;
  return Array.from({ length: chosen }, (_, n) => {
    const from = Math.floor(n * stretch);
    const to = Math.max(from + 1, Math.floor((n + 1) * stretch));
    return from + Math.floor(random() * (to - from));
  });
}

/** A little more than 95 %: at few pages the spread is itself uncertain. */
const Z = 2.2;
/** With fewer pages that have any hit, the normal distribution says nothing. */
const FEW_HITS = 30;
/** None in m pages: with 95 % they are on less than 3/m of all pages. */
const RULE_OF_THREE = 3;

/**
 * How many there are on all `pages`, from how many were on each page of the sample, in their order.
 * `perPage`: how many jobs of any kind a page has, for what was not met at all.
 */
export function estimateFrom(pages: number, counts: readonly number[], perPage: number): Interval {
  const sampled = counts.length;
  const hits = sum(counts, (one) => one);
  if (sampled === 0) return { value: 0, low: 0, high: 0 };
  if (sampled >= pages) return { value: hits, low: hits, high: hits };
  const scale = pages / sampled;
  const value = scale * hits;
  const hitPages = sum(counts, (one) => (one > 0 ? 1 : 0));
  if (hitPages < FEW_HITS) return fewHits(scale, hits, hitPages, counts, perPage);
  // Neighbours in the sample differ by chance alone, however the table is sorted.
  let differences = 0;
  for (let n = 1; n < sampled; n++) differences += ((counts[n] ?? 0) - (counts[n - 1] ?? 0)) ** 2;
  const variance = (differences / (2 * (sampled - 1))) * (1 - sampled / pages);
  const margin = Z * scale * Math.sqrt(sampled * variance);
  return { value, low: Math.max(hits, value - margin), high: value + margin };
}

/** Pages with hits are rare events: as many as a Poisson distribution bears, each as full as those met. */
function fewHits(
  scale: number,
  hits: number,
  hitPages: number,
  counts: readonly number[],
  perPage: number,
): Interval {
  const value = scale * hits;
  if (hitPages === 0)
    return { value: 0, low: 0, high: RULE_OF_THREE * scale * Math.max(perPage, 1) };
  const spread = Z * Math.sqrt(sum(counts, (one) => one ** 2));
  const onePage = hits / hitPages;
  return {
    value,
    low: Math.max(hits, value - scale * spread),
    high: value + scale * (spread + (RULE_OF_THREE - 1) * onePage),
  };
}

function sum(counts: readonly number[], of: (one: number) => number): number {
  let total = 0;
  for (const one of counts) total += of(one);
  return total;
}
