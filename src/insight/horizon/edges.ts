// The time axis of the horizon, from two days ago to two days ahead. It is nearly linear within half a minute of now,
// and logarithmic beyond that. The first and the last bucket also count the jobs beyond the axis.

/** The width of a bucket is proportional to the sum of these seconds and its distance from now. */
const LINEAR_S = 30;
const FARTHEST_S = 2 * 86_400;
/** The share of the buckets that are in the past. */
const PAST_SHARE = 0.47;

export interface TimeAxis {
  /** The edges of the buckets in seconds from now, ascending; negative in the past. `buckets` + 1 numbers. */
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
 * Returns a distance from now in seconds: a whole number from ten on, otherwise rounded to hundredths. `part`: the
 * fraction of the way from now to the end of the axis, 0 to 1.
 */
function distance(part: number): number {
  const seconds = LINEAR_S * (Math.exp(part * Math.log1p(FARTHEST_S / LINEAR_S)) - 1);
  return seconds < 10 ? Math.round(seconds * 100) / 100 : Math.round(seconds);
}
