// What a fast lane asks for, and how the answers are read.
import { builtOnce, type Database, query, type Statement } from "../database/database.ts";
import { ClaimedRows } from "../queue/claimed-rows.ts";
import { type LockAnswer, lockStatement } from "../queue/fast-lane.ts";
import { LookedRows, type LookRow, lookStatement } from "../queue/fast-look.ts";
import type { ClaimedJob } from "./claimed-job.ts";
import type { Claims } from "./claims.ts";
import { LowWater } from "./low-water.ts";

export interface Taken {
  readonly jobs: readonly ClaimedJob[];
  /** There is more. */
  readonly isFull: boolean;
  /** There is more than this lane can take, and others could. */
  readonly isForOthers: boolean;
  /** Others hold the queues of all that there is, perhaps for a moment only. */
  readonly isContended: boolean;
  /** Jobs with keys stand in the way: they are for the ordinary lanes. */
  readonly isKeyed: boolean;
}

/**
 * A worker's fast lanes divide the named queues between them, by their ids: nobody sees what row
 * locks hold, so two lanes would look for the same jobs, and be in each other's way.
 */
export interface QueueShare {
  readonly share: number;
  readonly shares: number;
}

const NOTHING: Taken = {
  jobs: [],
  isFull: false,
  isForOthers: false,
  isContended: false,
  isKeyed: false,
};

/** A short look is worth it for a few jobs only. */
const LOOK_JOBS = 32;

/** Looks that are left out after one that was in vain. */
const LOOKS_LEFT_OUT = 64;

export class FastTake<E> {
  readonly #claims: Claims<E>;
  readonly #forbiddenFlags: readonly string[];
  readonly #queues: QueueShare | null;
  readonly #lock: Statement;
  readonly #look: Statement;
  readonly #lowWater = new LowWater();
  #looksLeftOut = 0;

  /** `queues`: null = takes no jobs of named queues. */
  constructor(claims: Claims<E>, forbiddenFlags: readonly string[], queues: QueueShare | null) {
    this.#claims = claims;
    this.#forbiddenFlags = forbiddenFlags;
    this.#queues = queues;
    const flags = forbiddenFlags.length > 0;
    this.#lock = builtOnce(lockStatement({ queues: queues !== null, flags }));
    this.#look = builtOnce(lookStatement({ flags }));
  }

  /** Anything may have become ready: the next take looks at everything. */
  forgetMark(): void {
    this.#lowWater.forget();
  }

  /**
   * Locks up to `want` jobs, of which `slots` can start at once, in the open transaction. `isFirst`:
   * there was nothing before.
   */
  async take(db: Database, want: number, slots: number, isFirst: boolean): Promise<Taken> {
    if (!isFirst || this.#queues !== null || this.#looksLeftOut-- > 0)
      return this.#taken(db, want, slots);
    this.#looksLeftOut = 0;
    const looked = await this.#looked(db, Math.min(want, LOOK_JOBS));
    if (looked.jobs.length > 0) return looked;
    const taken = await this.#taken(db, want, slots);
    if (taken.jobs.length > 0) this.#looksLeftOut = LOOKS_LEFT_OUT;
    return taken;
  }

  async #taken(db: Database, want: number, slots: number): Promise<Taken> {
    const { priority, runAt_s } = this.#lowWater.mark;
    const values: unknown[] = [this.#claims.identifiers, want, priority, runAt_s];
    if (this.#queues !== null) values.push(this.#queues.share, this.#queues.shares, slots);
    if (this.#forbiddenFlags.length > 0) values.push(this.#forbiddenFlags);
    const [answer] = await query<LockAnswer>(db, this.#lock, values);
    if (answer === undefined) return NOTHING;
    const jobs = await this.#claims.jobs(new ClaimedRows(answer), db);
    const isFull = jobs.length === want || (answer.more && jobs.length > 0);
    const isContended = answer.more && jobs.length === 0;
    const last = jobs.at(-1);
    // Queued jobs are taken in runs and leave others behind them: no mark then.
    if (isFull && last !== undefined && !answer.queued) this.#lowWater.remember(last);
    else this.#lowWater.forget();
    const isForOthers = isFull && jobs.some(({ isQueued }) => !isQueued);
    return { ...NOTHING, jobs, isFull, isForOthers, isContended, isKeyed: answer.keyed };
  }

  /** The quick way to a few jobs that have just become ready. */
  async #looked(db: Database, want: number): Promise<Taken> {
    const values: unknown[] = [this.#claims.identifiers, want];
    if (this.#forbiddenFlags.length > 0) values.push(this.#forbiddenFlags);
    const rows = await query<LookRow>(db, this.#look, values);
    if (rows.length === 0) return NOTHING;
    const jobs = await this.#claims.jobs(new LookedRows(rows), db);
    const isFull = jobs.length === want;
    return { ...NOTHING, jobs, isFull, isForOthers: isFull };
  }
}
