// The connections that fetch and flush side by side: which are idle, and how they come back. The loss of
// one is normal weather: it is reported once, tried again in turn with the worker's others, and before work
// goes on the owner settles what a broken fetch may have left behind.
import { wait } from "../../base/clock.ts";
import type { Outage } from "../../base/outage.ts";
import { settled, type WorkerConnection } from "./worker-connection.ts";

export interface ConnectionsParts {
  /** All are connected again; runs before any of them is handed out. */
  reconcile(connection: WorkerConnection): Promise<void>;
  lost(error: Error): void;
  back(): void;
  readonly outage: Outage;
}

const WHO = "jobs";

export class WorkerConnections {
  readonly #all: readonly WorkerConnection[];
  readonly #idle: WorkerConnection[] = [];
  readonly #parts: ConnectionsParts;
  readonly #stop = new AbortController();
  #hurry = new AbortController();
  #repairing: Promise<void> | null = null;

  constructor(all: readonly WorkerConnection[], parts: ConnectionsParts) {
    this.#all = all;
    this.#parts = parts;
  }

  /** They are being brought back: none is handed out. */
  get isBroken(): boolean {
    return this.#repairing !== null;
  }

  /** Any that is connected, for a small question beside its work; null when there is none. */
  get any(): WorkerConnection | null {
    return this.#all.find(({ isConnected }) => isConnected) ?? null;
  }

  get hasIdle(): boolean {
    return !this.isBroken && this.#idle.length > 0;
  }

  async connect(): Promise<void> {
    // All of them come to an end before one may be closed.
    await settled(this.#all.map((one) => one.connect()));
    for (const one of this.#all) this.giveBack(one);
  }

  take(): WorkerConnection | undefined {
    return this.isBroken ? undefined : this.#idle.pop();
  }

  giveBack(one: WorkerConnection): void {
    if (one.isConnected && !this.#idle.includes(one)) this.#idle.push(one);
  }

  /** A connection is lost, or the database answered in a way that needs a pause. */
  lost(error: Error): void {
    if (this.#stop.signal.aborted || this.#repairing !== null) return;
    this.#parts.lost(error);
    this.#parts.outage.lost(WHO, error);
    this.#repairing = this.#repair().finally(() => {
      this.#repairing = null;
      if (!this.#stop.signal.aborted) this.#parts.back();
    });
  }

  /** Gives up those that do not answer within seconds. */
  prove(): void {
    for (const one of this.#all) void one.prove();
  }

  /** The next try to connect comes at once, not after its pause. */
  hurry(): void {
    this.#hurry.abort();
  }

  /** How much the server has said on those that there are, bytes. */
  get heard(): number {
    return this.#all.reduce((sum, one) => sum + one.heard, 0);
  }

  /** Stops the statements that are under way. */
  cancel(): void {
    for (const one of this.#all) one.cancel();
  }

  async close(): Promise<void> {
    this.#stop.abort();
    await Promise.all(this.#all.map((one) => one.close()));
    await this.#repairing;
  }

  async #repair(): Promise<void> {
    const { signal } = this.#stop;
    const { reconcile, outage } = this.#parts;
    await outage.retrying(
      WHO,
      async (succeeded) => {
        this.#hurry = new AbortController();
        for (const one of this.#all) {
          if (!one.isConnected) await outage.reaching(() => one.connect());
        }
        if (signal.aborted) return this.#closeAll();
        await reconcile(this.#all[0] as WorkerConnection);
        // Another one may have been lost meanwhile.
        const isWhole = this.#all.every(({ isConnected }) => isConnected);
        if (!isWhole) throw new Error("a connection was lost again");
        for (const one of this.#all) this.giveBack(one);
        succeeded();
      },
      { signal, wait: (ms, end) => wait(ms, AbortSignal.any([end, this.#hurry.signal])) },
    );
  }

  async #closeAll(): Promise<void> {
    await Promise.all(this.#all.map((one) => one.close()));
  }
}
