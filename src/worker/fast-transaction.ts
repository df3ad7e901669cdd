// The transactions of a fast lane, one after another. Each holds a batch of jobs by its row locks;
// its end, what has become of them, and the beginning of the next one are sent as one packet.
import { settled } from "../base/settled.ts";
import { failFastJobs, finishFastJobs, keepJobs } from "../queue/fast-lane.ts";
import type { Hooks } from "./hooks.ts";
import type { Lane } from "./lane.ts";
import { idOf, type OutcomeBatch, type Outcomes, tellLost, toFailure } from "./outcomes.ts";

export interface FastTransactionParts {
  readonly lane: Lane;
  readonly workerId: string;
  readonly hooks: Hooks;
  readonly outcomes: Outcomes;
  /** Ends of jobs are written. */
  onRan(): void;
}

export class FastTransaction {
  readonly #parts: FastTransactionParts;
  #isOpen = false;

  constructor(parts: FastTransactionParts) {
    this.#parts = parts;
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Its connection is gone. */
  forget(): void {
    this.#isOpen = false;
  }

  /** Begins one, with `look`: there is nothing to be written. */
  async open<T>(look: () => Promise<T>): Promise<T> {
    const found = await look();
    this.#isOpen = true;
    return found;
  }

  /** Writes what ended and commits; with `take`, which begins it, follows the next transaction. */
  async next<T>(batch: OutcomeBatch, take: (() => Promise<T>) | null): Promise<T | null> {
    const { lane } = this.#parts;
    const wasOpen = this.#isOpen;
    this.#isOpen = false;
    const [, taken] = await this.#written(batch, () => [
      wasOpen ? lane.commit() : null,
      take?.() ?? null,
    ]);
    this.#isOpen = take !== null;
    return taken as T | null;
  }

  /** Writes what ended, gives these jobs the classic lock and commits: the rest is let go. */
  async keep(batch: OutcomeBatch, ids: readonly string[]): Promise<void> {
    const { lane, workerId } = this.#parts;
    this.#isOpen = false;
    await this.#written(batch, () => [
      ids.length > 0 ? keepJobs(lane.database, workerId, ids) : null,
      lane.commit(),
    ]);
  }

  /** Ends a transaction that holds nothing. */
  async end(): Promise<void> {
    this.#isOpen = false;
    await this.#parts.lane.commit();
  }

  async #written(batch: OutcomeBatch, following: () => unknown[]): Promise<unknown[]> {
    const { workerId, hooks, outcomes, lane, onRan } = this.#parts;
    const { done, failures } = batch;
    const db = lane.database;
    const sent = lane.together(() => [
      done.length > 0 ? finishFastJobs(db, workerId, done.map(idOf)) : [],
      failures.length > 0 ? failFastJobs(db, workerId, failures.map(toFailure)) : null,
      ...following(),
    ]);
    try {
      const [lost, _, ...answers] = await settled(sent);
      tellLost(hooks, lost as string[], done);
      if (done.length + failures.length > 0) onRan();
      return answers;
    } catch (error) {
      outcomes.putBack(batch);
      throw error;
    }
  }
}
