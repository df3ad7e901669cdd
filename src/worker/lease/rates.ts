// How fast a worker is: what has been added to its counters within the last minute.

export interface Counted {
  /** By the monotonic clock. */
  readonly atMs: number;
  readonly done: number;
  readonly failed: number;
}

const MINUTE_MS = 60_000;

export class WorkerRates {
  /** Of the last minute, and one that is older. */
  #samples: readonly Counted[] = [];

  /**
   * With one decimal. A worker that is younger than a minute has counted all of it within the minute: what a
   * few seconds of it would come to is not guessed.
   */
  perMinute(sample: Counted): { readonly done: number; readonly failed: number } {
    const [, ...later] = this.#samples;
    const isOld = ({ atMs }: Counted) => sample.atMs - atMs >= MINUTE_MS;
    const first = later.findLastIndex(isOld) + 1;
    this.#samples = [...this.#samples.slice(first), sample];
    const oldest = this.#samples[0] as Counted;
    const minutes = Math.max(sample.atMs - oldest.atMs, MINUTE_MS) / MINUTE_MS;
    return {
      done: Math.round(((sample.done - oldest.done) / minutes) * 10) / 10,
      failed: Math.round(((sample.failed - oldest.failed) / minutes) * 10) / 10,
    };
  }
}
