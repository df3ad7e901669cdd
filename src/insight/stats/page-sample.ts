// The pages of a sample, and the estimate from their contents. One random page from each of equally many stretches:
// jobs added together are stored together, so a table is usually sorted by outcome, where a plain random sample is
// imprecise.
import type { Interval } from "../../domain/value.ts";

/** Ascending; all pages if there are no more than `count`. */
export function choosePages(pages: number, count: number, random = Math.random): number[] {
  const chosen = Math.min(pages, count);
  const stretch = pages / chosen;
  return Array.from({ length: chosen }, (_, n) => {
    const from = Math.floor(n * stretch);
    const to = Math.max(from + 1, Math.floor((n + 1) * stretch));
    return from + Math.floor(random() * (to - from));
  });
}

/** A little more than 95 %: with few pages the variance is itself uncertain. */
const Z = 2.2;
/** With fewer pages that have a hit, the normal distribution does not apply. */
const FEW_HITS = 30;
/** None in m pages: with 95 % confidence they are on less than 3/m of all pages. */
const RULE_OF_THREE = 3;

/**
 * Estimates the number on all `pages` from the counts on each page of the sample, in their order. `perPage`: jobs of
 * any kind per page, for jobs that were not met at all.
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
  // Neighbours in the sample differ only by chance, however the table is sorted.
  let differences = 0;
  for (let n = 1; n < sampled; n++) differences += ((counts[n] ?? 0) - (counts[n - 1] ?? 0)) ** 2;
  const variance = (differences / (2 * (sampled - 1))) * (1 - sampled / pages);
  const margin = Z * scale * Math.sqrt(sampled * variance);
  return { value, low: Math.max(hits, value - margin), high: value + margin };
}

/** Pages with hits are rare events: bounded by the Poisson distribution, each as full as those met. */
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
