// Selects the pages of a sample and estimates totals from their contents. The table is divided into stretches of equal
// size, and one random page is selected from each. A plain random sample would be less precise, because jobs that were
// added together are stored together and often have the same outcome.
import type { Interval } from "../../domain/value.ts";

/** Returns the numbers of `count` selected pages, ascending. If there are fewer pages, returns all of them. */
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
 * Half the width of a confidence interval, in standard deviations. For 95 %, a normal distribution needs 1.96. The
 * value is a little larger, because a variance that is estimated from few pages is itself uncertain.
 */
const Z = 2.2;
/**
 * A hit is a job that the count includes. If fewer than FEW_HITS pages of the sample have hits, the normal distribution
 * does not apply.
 */
const FEW_HITS = 30;
/** If none of m sampled pages has a hit, fewer than 3/m of all pages have one, with 95 % confidence. */
const RULE_OF_THREE = 3;

/**
 * Estimates the number of hits in the table. `pages`: the number of pages of the table. `counts`: the number of hits on
 * each page of the sample, in the order of the pages. `perPage`: the average number of jobs on a page, hits or not. If
 * the sample has no hits, the upper bound is computed from `perPage`.
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
  // The variance is estimated from the differences between neighbouring pages of the sample, so that gradual changes
  // along the table hardly increase it.
  let differences = 0;
  for (let n = 1; n < sampled; n++) differences += ((counts[n] ?? 0) - (counts[n - 1] ?? 0)) ** 2;
  const variance = (differences / (2 * (sampled - 1))) * (1 - sampled / pages);
  const margin = Z * scale * Math.sqrt(sampled * variance);
  return { value, low: Math.max(hits, value - margin), high: value + margin };
}

/**
 * Estimates the total if few pages of the sample have hits. Pages with hits are then rare, so their number is assumed
 * to have a Poisson distribution.
 */
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
