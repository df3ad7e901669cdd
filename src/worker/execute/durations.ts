// Durations counted in buckets, as Prometheus wants them: no object is made for one.

/** Upper bounds in seconds: from the quick job to the one that runs for an hour. */
export const BOUNDS: readonly number[] = [
  0.001, 0.005, 0.025, 0.1, 0.5, 1, 2.5, 10, 30, 120, 600, 3_600,
];

export class Durations {
  /** How many were at most as long as each bound, and longer than the one before; last the rest. */
  readonly counts = new Float64Array(BOUNDS.length + 1);
  sumSeconds = 0;

  add(seconds: number): void {
    let bucket = 0;
    while (bucket < BOUNDS.length && seconds > (BOUNDS[bucket] as number)) bucket++;
    this.counts[bucket] = (this.counts[bucket] as number) + 1;
    this.sumSeconds += seconds;
  }
}
