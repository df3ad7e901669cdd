// The time axis of the horizon: two-sided, finer the nearer to now. Around now it is linear, beyond half
// a minute logarithmic, and ends two days away; the outermost buckets reach to the ends of time.

/** Where a bucket is a few seconds wide. */
const LINEAR_S = 30;
const FARTHEST_S = 2 * 86_400;
/** What has been is told in a little less than half of the buckets. */
const PAST_SHARE = 0.47;

export interface TimeAxis {
  /** Seconds from now, ascending, one more than there are buckets; negative = past. */
  readonly edges: readonly number[];
  /** The first bucket that begins now. */
  readonly firstAhead: number;
}

export function timeAxis(buckets: number): TimeAxis {
  const past = Math.round(buckets * PAST_SHARE);
  const ahead = buckets - past;
  const before = Array.from({ length: past }, (_, n) => -distance((past - n) / past));
  const after = Array.from({ length: ahead }, (_, n) => distance((n + 1) / ahead));
  return { edges: [...before, 0, ...after], firstAhead: past };
}

/** Seconds, whole ones from ten on; `part` of the way from now to the end, 0 to 1. */
function distance(part: number): number {
  const seconds = LINEAR_S * (Math.exp(part * Math.log1p(FARTHEST_S / LINEAR_S)) - 1);
  return seconds < 10 ? Math.round(seconds * 100) / 100 : Math.round(seconds);
}
