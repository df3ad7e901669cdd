// The time axis of the horizon: two-sided, and finer near now. It is linear around now, logarithmic beyond half a
// minute, and ends two days away; the outermost buckets are open-ended.

/** Up to here a bucket is a few seconds wide. */
const LINEAR_S = 30;
const FARTHEST_S = 2 * 86_400;
/** The past has a little less than half of the buckets. */
const PAST_SHARE = 0.47;

export interface TimeAxis {
  /** Seconds from now, ascending, one more than buckets; negative = past. */
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

/** Seconds, integers from ten on. `part`: the fraction of the way from now to the end, 0 to 1. */
function distance(part: number): number {
  const seconds = LINEAR_S * (Math.exp(part * Math.log1p(FARTHEST_S / LINEAR_S)) - 1);
  return seconds < 10 ? Math.round(seconds * 100) / 100 : Math.round(seconds);
}
