// Selects a sample of a table's pages, and estimates the number of hits (jobs to be counted) in the table. One random
// page is selected in each stretch of the table. An unevenly spread sample would be less precise, because jobs that
// were added together are stored together and often have the same outcome.
import type { Interval } from "../../domain/value.ts";

/** Returns `count` random page numbers below `pages`, ascending. If `pages` is lower than `count`, returns all. */
export function selectPages(pages: number, count: number, random = Math.random): number[] {
  const length = Math.min(pages, count);
  const stretch = pages / length;
  return Array.from({ length }, (_, n) => {
    const from = Math.floor(n * stretch);
    const to = Math.max(from + 1, Math.floor((n + 1) * stretch));
    return from + Math.floor(random() * (to - from));
  });
}

/**
 * Half the width of a confidence interval of 95 %, in standard deviations. Z is larger than 1.96, because the variance
 * is only estimated.
 */
const Z = 2.2;
/** If fewer sampled pages have hits, the normal distribution does not apply. */
const FEW_HITS = 30;
/** If none of m sampled pages has a hit, fewer than 3/m of all pages have a hit, with 95 % confidence. */
const RULE_OF_THREE = 3;

/**
 * Estimates the number of hits in a table of `pages` pages. `counts`: the hits on each page of the sample, in order.
 * `perPage`: the average number of jobs on a page, for the upper bound if the sample has no hits.
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
  // The variance is estimated from differences between neighbouring pages of the sample, so that gradual changes along
  // the table hardly increase the variance.
  let differences = 0;
  for (let n = 1; n < sampled; n++) differences += ((counts[n] ?? 0) - (counts[n - 1] ?? 0)) ** 2;
  const variance = (differences / (2 * (sampled - 1))) * (1 - sampled / pages);
  const margin = Z * scale * Math.sqrt(sampled * variance);
  return { value, low: Math.max(hits, value - margin), high: value + margin };
}

/** The number of pages with hits is assumed to have a Poisson distribution. */
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
  for (const count of counts) total += of(count);
  return total;
}
