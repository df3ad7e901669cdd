// The time axis of the horizon, into the past and the future. It is nearly linear within half a minute of now,
// logarithmic beyond that, and ends two days away; the outermost buckets have no outer end.

/** The width of a bucket is in proportion to its distance from now plus these seconds. */
const LINEAR_S = 30;
const FARTHEST_S = 2 * 86_400;
/** The share of the buckets that are in the past, a little less than half. */
const PAST_SHARE = 0.47;

export interface TimeAxis {
  /** The edges in seconds from now, ascending, one more than there are buckets. Negative: in the past. */
  readonly edges: readonly number[];
  /** The index of the first bucket in the future, which begins now. */
  readonly firstAhead: number;
}

export function timeAxis(buckets: number): TimeAxis {
  const past = Math.round(buckets * PAST_SHARE);
  const ahead = buckets - past;
  const before = Array.from({ length: past }, (_, n) => -distance((past - n) / past));
  const after = Array.from({ length: ahead }, (_, n) => distance((n + 1) / ahead));
  return { edges: [...before, 0, ...after], firstAhead: past };
}

/**
 * Returns the distance from now in seconds, a whole number from ten on. `part`: the fraction of the way to the end of
 * the axis, 0 to 1.
 */
function distance(part: number): number {
  const seconds = LINEAR_S * (Math.exp(part * Math.log1p(FARTHEST_S / LINEAR_S)) - 1);
  return seconds < 10 ? Math.round(seconds * 100) / 100 : Math.round(seconds);
}
