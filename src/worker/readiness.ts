// Whether a claim could find anything. Everything that may have made a job ready raises the pulse; a
// claim that comes back short proves that nothing was ready at the pulse at which it was sent.
export class Readiness {
  #pulse = 1;
  #drainedAt = 0;

  /** To be remembered when a claim is sent. */
  get pulse(): number {
    return this.#pulse;
  }

  get isDrained(): boolean {
    return this.#drainedAt >= this.#pulse;
  }

  /** True when nothing was ready before. */
  raise(): boolean {
    const wasDrained = this.isDrained;
    this.#pulse++;
    return wasDrained;
  }

  /** A claim sent at `pulse` came back short. True when that is still the last word. */
  drained(pulse: number): boolean {
    this.#drainedAt = Math.max(this.#drainedAt, pulse);
    return this.isDrained;
  }
}
