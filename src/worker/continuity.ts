// Since when a worker's own beats go through without a gap. After an outage of the database every
// worker looks dead to whoever is back first; so nobody may judge others before he has been heard
// himself for as long as they have been silent.
export class Continuity {
  readonly #longestGap_ms: number;
  #since_ms: number | null = null;
  #last_ms = 0;

  constructor(longestGap_ms: number) {
    this.#longestGap_ms = longestGap_ms;
  }

  /** A beat went through at this moment of the database's clock, which may have jumped. */
  confirm(now_ms: number): void {
    const isGap = Math.abs(now_ms - this.#last_ms) > this.#longestGap_ms;
    if (this.#since_ms === null || isGap) this.#since_ms = now_ms;
    this.#last_ms = now_ms;
  }

  /** A beat failed. */
  break(): void {
    this.#since_ms = null;
  }

  get steady_ms(): number {
    return this.#since_ms === null ? 0 : this.#last_ms - this.#since_ms;
  }

  /** The last beat by the database's clock. */
  get last_ms(): number {
    return this.#last_ms;
  }
}
