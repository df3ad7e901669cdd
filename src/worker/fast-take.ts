// What a fast lane asks for, and how the answers are read.
import { monotonic } from "../base/clock.ts";
import { settled } from "../base/settled.ts";
import { builtOnce, query, type Statement } from "../database/database.ts";
import { ClaimedRows } from "../queue/claimed-rows.ts";
import { type LockAnswer, lockStatement } from "../queue/fast-lane.ts";
import { lookStatement } from "../queue/short-look.ts";
import type { ClaimedJob } from "./claimed-job.ts";
import { arrayText, type Claims } from "./claims.ts";
import type { Lane } from "./lane.ts";
import { LowWater } from "./low-water.ts";
import { Pace } from "./pace.ts";
import { ShortLooks } from "./short-looks.ts";

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

/** Jobs a transaction takes at the most; less where they are slow. */
const LARGEST_BATCH = 2_000;

export class FastTake<E> {
  readonly #claims: Claims<E>;
  readonly #forbiddenFlags: readonly string[];
  readonly #queues: QueueShare | null;
  readonly #lock: Statement;
  readonly #lane: Lane;
  readonly #looks: ShortLooks;
  readonly #lowWater = new LowWater();
  readonly #pace = new Pace();

  /** `queues`: null = takes no jobs of named queues. */
  constructor(
    lane: Lane,
    claims: Claims<E>,
    forbiddenFlags: readonly string[],
    queues: QueueShare | null,
  ) {
    this.#lane = lane;
    this.#claims = claims;
    this.#forbiddenFlags = forbiddenFlags;
    this.#queues = queues;
    const flags = forbiddenFlags.length > 0;
    this.#lock = builtOnce(lockStatement({ queues: queues !== null, flags }));
    this.#looks = new ShortLooks(lane.database, lookStatement({ flags }), {
      identifiers: claims.identifiers,
      rest: flags ? [arrayText(forbiddenFlags)] : [],
      begins: true,
    });
  }

  /** Anything may have become ready: the next take looks at everything. */
  forgetMark(): void {
    this.#lowWater.forget();
  }

  /** Jobs of earlier takes have ended. */
  finished(count: number): void {
    this.#pace.finished(count);
  }

  /** A take failed, perhaps because its jobs were too large together. */
  forgetPace(): void {
    this.#pace.forget();
  }

  /** Whether a short look is the quicker way to what has just become ready. */
  mayLook(): boolean {
    return this.#queues === null && this.#lane.keepsStatements && this.#looks.next();
  }

  /** Begins a transaction and locks jobs that have just become ready: up to `slots`, and few. */
  async look(slots: number): Promise<Taken> {
    const { rows, isFull } = await this.#looks.look(this.#lane, slots);
    const jobs = await this.#claims.jobs(rows, this.#lane.database);
    // It has not seen what is less urgent: a look at everything follows it.
    return { ...NOTHING, jobs, isFull: true, isForOthers: isFull };
  }

  /** Begins a transaction and locks jobs: those that `slots` can start, and what is soon used up. */
  async take(slots: number): Promise<Taken> {
    this.#pace.measure();
    const want = Math.min(LARGEST_BATCH, this.#pace.ahead + slots);
    const [, answer] = await settled([this.#lane.begin(), this.#taken(want, slots)]);
    return answer as Taken;
  }

  async #taken(want: number, slots: number): Promise<Taken> {
    const db = this.#lane.database;
    const sentAt_ms = monotonic();
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
    if (isFull && last !== undefined && !answer.queued) this.#lowWater.remember(last, sentAt_ms);
    else this.#lowWater.forget();
    const isForOthers = isFull && jobs.some(({ isQueued }) => !isQueued);
    return { ...NOTHING, jobs, isFull, isForOthers, isContended, isKeyed: answer.keyed };
  }
}
