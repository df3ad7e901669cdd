// Since when a worker's own beats go through without a gap. After an outage of the database every
// worker looks stale to whoever is back first; so nobody may judge others before he has been heard
// himself for as long as they have not been.
export class HeartbeatUptime {
  readonly #longestGapMs: number;
  #sinceMs: number | null = null;
  #lastMs = 0;

  constructor(longestGapMs: number) {
    this.#longestGapMs = longestGapMs;
  }

  /** A beat went through at this moment of the database's clock, which may have jumped. */
  confirm(nowMs: number): void {
    const isGap = Math.abs(nowMs - this.#lastMs) > this.#longestGapMs;
    if (this.#sinceMs === null || isGap) this.#sinceMs = nowMs;
    this.#lastMs = nowMs;
  }

  /** A beat failed. */
  break(): void {
    this.#sinceMs = null;
  }

  get uptimeMs(): number {
    return this.#sinceMs === null ? 0 : this.#lastMs - this.#sinceMs;
  }

  /** The last beat by the database's clock. */
  get lastMs(): number {
    return this.#lastMs;
  }
}
