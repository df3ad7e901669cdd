// The connections on which the safe mode fetches jobs and writes results in parallel. After a loss, take() returns no
// connection until all connections are connected again and reconcile() has unlocked jobs that a fetch without an answer
// may have locked.
import { monotonic, wait } from "../../base/clock.ts";
import type { Outage } from "../../base/outage.ts";
import { settleAll, type WorkerConnection } from "./worker-connection.ts";

export interface ConnectionsParts {
  /** Called when all connections are connected again. If the promise rejects, the repair starts again. */
  reconcile(connection: WorkerConnection): Promise<void>;
  lost(error: Error): void;
  back(): void;
  readonly outage: Outage;
}

const CONNECTION = "jobs";
const DELAY_MS = 500;

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

  /** Whether the connections are being repaired. */
  get isBroken(): boolean {
    return this.#repairing !== null;
  }

  /** Returns a connection for a small extra query, idle or not; null if none is connected. */
  get any(): WorkerConnection | null {
    return this.#all.find(({ isConnected }) => isConnected) ?? null;
  }

  get hasIdle(): boolean {
    return !this.isBroken && this.#idle.length > 0;
  }

  async connect(): Promise<void> {
    // Waits for all attempts, even if one fails, because the caller may close the connections after an error.
    await settleAll(this.#all.map((one) => one.connect()));
    for (const connection of this.#all) this.giveBack(connection);
  }

  take(): WorkerConnection | undefined {
    return this.isBroken ? undefined : this.#idle.pop();
  }

  giveBack(one: WorkerConnection): void {
    if (one.isConnected && !this.#idle.includes(one)) this.#idle.push(one);
  }

  /** To be called when a connection is lost, or if after an error it is uncertain what a statement has changed. */
  lost(error: Error): void {
    if (this.#stop.signal.aborted || this.#repairing !== null) return;
    this.#parts.lost(error);
    this.#parts.outage.reportLost(CONNECTION, error);
    this.#repairing = this.#repair().finally(() => {
      this.#repairing = null;
      if (!this.#stop.signal.aborted) this.#parts.back();
    });
  }

  /** Waits until half a second after `sinceMs`, a time of monotonic(). */
  async delay(sinceMs: number): Promise<void> {
    await wait(DELAY_MS - (monotonic() - sinceMs), this.#stop.signal);
  }

  /** Closes each connection that does not answer within seconds. */
  prove(): void {
    for (const connection of this.#all) void connection.prove();
  }

  /** Ends running patient statements: see endPatient() of WorkerConnection. */
  endPatient(waitedMs: number): void {
    for (const connection of this.#all) connection.endPatient(waitedMs);
  }

  /** Ends the pause before the next attempt to connect. */
  hurry(): void {
    this.#hurry.abort();
  }

  /** The number of bytes received on the present connections. */
  get bytesReceived(): number {
    return this.#all.reduce((sum, one) => sum + one.bytesReceived, 0);
  }

  cancel(): void {
    for (const connection of this.#all) connection.cancel();
  }

  async close(): Promise<void> {
    this.#stop.abort();
    await Promise.all(this.#all.map((one) => one.close()));
    await this.#repairing;
  }

  async #repair(): Promise<void> {
    const { signal } = this.#stop;
    const { reconcile, outage } = this.#parts;
    await outage.runWithRetries(
      CONNECTION,
      async (succeeded) => {
        this.#hurry = new AbortController();
        for (const connection of this.#all) {
          if (!connection.isConnected) await outage.tryConnect(() => connection.connect());
        }
        if (signal.aborted) return this.#closeAll();
        await reconcile(this.#all[0] as WorkerConnection);
        // A connection may have been lost again in the meantime.
        const isWhole = this.#all.every(({ isConnected }) => isConnected);
        if (!isWhole) throw new Error("a connection was lost again");
        for (const connection of this.#all) this.giveBack(connection);
        succeeded();
      },
      { signal, wait: (ms, end) => wait(ms, AbortSignal.any([end, this.#hurry.signal])) },
    );
  }

  async #closeAll(): Promise<void> {
    await Promise.all(this.#all.map((one) => one.close()));
  }
}
