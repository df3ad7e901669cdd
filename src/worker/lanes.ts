// A worker's lanes: which are idle, and how they come back. The loss of a connection is normal
// weather: it is told once, tried again with backoff, and before work goes on the owner settles what
// a broken claim may have left behind.
import { wait } from "../base/clock.ts";
import { messageOf } from "../base/errors.ts";
import type { Logger } from "../base/logger.ts";
import { backoffDelay } from "../base/retry.ts";
import { settled } from "../base/settled.ts";
import type { Lane } from "./lane.ts";

export interface LanesEvents {
  /** All lanes are connected again; runs before any of them is handed out. */
  reconcile(lane: Lane): Promise<void>;
  lost(error: Error): void;
  back(): void;
}

export class Lanes {
  readonly #lanes: readonly Lane[];
  readonly #idle: Lane[] = [];
  readonly #events: LanesEvents;
  readonly #logger: Logger;
  readonly #stop = new AbortController();
  #repairing: Promise<void> | null = null;

  constructor(lanes: readonly Lane[], events: LanesEvents, logger: Logger) {
    this.#lanes = lanes;
    this.#events = events;
    this.#logger = logger;
  }

  /** Lanes are being brought back: none is handed out. */
  get isBroken(): boolean {
    return this.#repairing !== null;
  }

  /** Any connected lane, for a small question beside its work; null when there is none. */
  get any(): Lane | null {
    return this.#lanes.find(({ isConnected }) => isConnected) ?? null;
  }

  get hasIdle(): boolean {
    return !this.isBroken && this.#idle.length > 0;
  }

  async connect(): Promise<void> {
    // All of them come to an end before one may be closed.
    await settled(this.#lanes.map((lane) => lane.connect()));
    for (const lane of this.#lanes) this.giveBack(lane);
  }

  take(): Lane | undefined {
    return this.isBroken ? undefined : this.#idle.pop();
  }

  giveBack(lane: Lane): void {
    if (lane.isConnected && !this.#idle.includes(lane)) this.#idle.push(lane);
  }

  /** A connection is lost, or the database answered in a way that needs a pause. */
  lost(error: Error): void {
    if (this.#stop.signal.aborted || this.#repairing !== null) return;
    this.#events.lost(error);
    this.#repairing = this.#repair().finally(() => {
      this.#repairing = null;
      if (!this.#stop.signal.aborted) this.#events.back();
    });
  }

  async close(): Promise<void> {
    this.#stop.abort();
    await this.#repairing;
    await Promise.all(this.#lanes.map((lane) => lane.close()));
  }

  async #repair(): Promise<void> {
    const { signal } = this.#stop;
    for (let attempt = 0; await wait(backoffDelay(attempt), signal); attempt++) {
      try {
        for (const lane of this.#lanes) if (!lane.isConnected) await lane.connect();
        await this.#events.reconcile(this.#lanes[0] as Lane);
        // Another one may have been lost meanwhile.
        if (!this.#lanes.every(({ isConnected }) => isConnected)) continue;
        for (const lane of this.#lanes) this.giveBack(lane);
        return;
      } catch (error) {
        this.#logger.debug({ error: messageOf(error) }, "the database is still away");
      }
    }
  }
}
