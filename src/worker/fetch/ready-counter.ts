// Whether a fetch could find anything. Everything that may have made a job ready raises a counter; a
// fetch that comes back short proves that nothing was ready at the count at which it was sent.
export class ReadyCounter {
  #raised = 1;
  #drainedAt = 0;

  /** To be remembered when a fetch is sent. */
  get count(): number {
    return this.#raised;
  }

  get isDrained(): boolean {
    return this.#drainedAt >= this.#raised;
  }

  /** Something may have become ready. True when nothing was before. */
  raise(): boolean {
    const wasDrained = this.isDrained;
    this.#raised++;
    return wasDrained;
  }

  /** A fetch that was sent at `count` came back short. True when that is still the last word. */
  drained(count: number): boolean {
    this.#drainedAt = Math.max(this.#drainedAt, count);
    return this.isDrained;
  }
}
