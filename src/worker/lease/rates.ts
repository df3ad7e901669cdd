// The speed of a worker: how many jobs were done, and how many attempts failed, in the last minute.

export interface RateSample {
  /** The time of the counts, by the monotonic clock. */
  readonly atMs: number;
  readonly done: number;
  readonly failed: number;
}

const MINUTE_MS = 60_000;

export class WorkerRates {
  /** The samples of the last minute, and the newest of the older samples. */
  #samples: readonly RateSample[] = [];

  /**
   * Adds a sample. Returns the increase per minute since the newest sample that is at least a minute old, with one
   * decimal. In the minute after the first sample, returns the increase since that sample, without extrapolation.
   */
  perMinute(sample: RateSample): { readonly done: number; readonly failed: number } {
    const [, ...later] = this.#samples;
    const isOld = ({ atMs }: RateSample) => sample.atMs - atMs >= MINUTE_MS;
    const first = later.findLastIndex(isOld) + 1;
    this.#samples = [...this.#samples.slice(first), sample];
    const oldest = this.#samples[0] as RateSample;
    const minutes = Math.max(sample.atMs - oldest.atMs, MINUTE_MS) / MINUTE_MS;
    return {
      done: Math.round(((sample.done - oldest.done) / minutes) * 10) / 10,
      failed: Math.round(((sample.failed - oldest.failed) / minutes) * 10) / 10,
    };
  }
}
