// The opt-in fast lane: one connection that holds a batch of short jobs by row locks.
//
//   idle ──pulse──▶ taking ──rows──▶ running ──all ended──▶ (delete, commit, begin, take) ─┐
//    ▲               │ none            │                                  ▲                │
//    └───────────────┘                 └─ limit passed: what runs gets the classic lock, ◀─┘
//                                         what has not started is let go with the commit
//
// attempts is not raised before a job runs, so a job that kills its process would come back for
// ever: a worker therefore takes its first jobs in the classic way (see `FastLanes`), and a job that
// was at the head when the process died meets that first.
import { wait } from "../base/clock.ts";
import { backoffDelay } from "../base/retry.ts";
import { type Database, query, type Statement } from "../database/database.ts";
import type { ClaimedRow } from "../queue/claim-jobs.ts";
import {
  failFastJobs,
  finishFastJobs,
  keepJobs,
  lockStatement,
  parseLocked,
} from "../queue/fast-lane.ts";
import { ClaimedJob, workUnits } from "./claimed-job.ts";
import type { Hooks } from "./hooks.ts";
import type { JobExecutor } from "./job-executor.ts";
import type { Lane } from "./lane.ts";
import { LowWater } from "./low-water.ts";
import type { OutcomeBatch, Outcomes } from "./outcomes.ts";
import type { Slots } from "./slots.ts";

export interface FastLaneParts<E> {
  readonly lane: Lane;
  readonly executor: JobExecutor<E>;
  /** The executor's: what this lane's jobs have come to. */
  readonly outcomes: Outcomes;
  readonly slots: Slots<E>;
  readonly hooks: Hooks;
  readonly workerId: string;
  readonly identifiers: readonly string[];
  readonly forbiddenFlags: readonly string[];
  readonly rawPayloads: boolean;
  /** How long a transaction may hold its rows. */
  readonly limit_ms: number;
  /** Makes sure that taskName knows the tasks of these rows. */
  recognize(rows: readonly ClaimedRow[], db: Database): Promise<void>;
  taskName(id: number): string;
  /** Jobs ended, or the lane went idle. */
  onChange(): void;
  isDraining(): boolean;
  onError(error: unknown): void;
}

/** A process that is frozen in its transaction gives its rows back after this long. */
const FROZEN_MS = 10_000;

/** Jobs a transaction takes at the most. */
const BATCH = 500;

export class FastLane<E> {
  readonly #parts: FastLaneParts<E>;
  readonly #lowWater = new LowWater();
  readonly #statement: Statement;
  readonly #stop = new AbortController();
  #wake: (() => void) | null = null;
  #hasPulse = true;
  #isOpen = false;
  #hasEnded = false;
  #running = 0;
  #loop: Promise<void> | null = null;

  constructor(parts: FastLaneParts<E>) {
    this.#parts = parts;
    this.#statement = lockStatement({
      flags: parts.forbiddenFlags.length > 0,
      rawPayloads: parts.rawPayloads,
    });
  }

  /** Nothing to take, nothing running, nothing unwritten. */
  get isIdle(): boolean {
    const isResting = this.#wake !== null || this.#hasEnded;
    return isResting && this.#running === 0 && this.#parts.outcomes.isEmpty;
  }

  start(): void {
    this.#loop = this.#run();
  }

  /** Something may have become ready, or a slot free. */
  pulse(): void {
    this.#hasPulse = true;
    this.#lowWater.forget();
    this.#wake?.();
  }

  /** Only matters to a lane that knows of ready jobs. */
  slotFreed(): void {
    if (this.#hasPulse) this.#wake?.();
  }

  /** Takes no more; running jobs end and are written. */
  async stop(): Promise<void> {
    this.#stop.abort();
    this.#wake?.();
    await this.#loop;
  }

  async #run(): Promise<void> {
    const { lane, onError, onChange } = this.#parts;
    for (let failures = 0; !this.#isOver(); ) {
      try {
        if (!lane.isConnected) await this.#connect();
        await this.#turn();
        failures = 0;
      } catch (error) {
        // The rows are free again, and another worker may take them: what runs is told to end. What
        // has ended is written all the same, where nobody else has the job by then.
        this.#isOpen = false;
        this.#parts.executor.abort(new Error("the lease was lost with the connection"));
        onError(error);
        onChange();
        if (!(await wait(backoffDelay(failures++), this.#stop.signal))) break;
      }
    }
    await lane.close();
    this.#hasEnded = true;
    onChange();
  }

  async #connect(): Promise<void> {
    const { lane } = this.#parts;
    await lane.connect();
    await statement(lane.database, `set idle_in_transaction_session_timeout = ${FROZEN_MS}`);
  }

  #isOver(): boolean {
    return this.#stop.signal.aborted && this.#running === 0 && this.#parts.outcomes.isEmpty;
  }

  /** One round trip, and the jobs that it brought. */
  async #turn(): Promise<void> {
    const { outcomes, slots } = this.#parts;
    const isTaking = !this.#stop.signal.aborted && this.#hasPulse && slots.free > 0;
    if (!isTaking && outcomes.isEmpty) return this.#sleep();
    const jobs = await this.#exchange(outcomes.take(), isTaking);
    if (jobs.length === 0) return;
    await this.#runBatch(jobs);
  }

  async #sleep(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
      this.#parts.onChange();
    });
    this.#wake = null;
  }

  /** Finishes what ended, and takes a new batch in the same packet. */
  async #exchange(batch: OutcomeBatch, isTaking: boolean): Promise<ClaimedJob[]> {
    const { workerId, hooks, outcomes } = this.#parts;
    const db = this.#parts.lane.database;
    const work: Promise<unknown>[] = [];
    const hasDone = batch.done.length > 0;
    if (hasDone && this.#parts.isDraining()) this.#hasPulse = true;
    // Outside a transaction, when all of this has the classic lock, each write stands alone.
    const finished = hasDone ? finishFastJobs(db, workerId, batch.done) : Promise.resolve([]);
    work.push(finished);
    if (batch.failures.length > 0) work.push(failFastJobs(db, workerId, batch.failures));
    if (this.#isOpen) work.push(statement(db, "commit"));
    this.#isOpen = false;
    if (isTaking) work.push(statement(db, "begin"));
    const taken = isTaking ? this.#take(db) : Promise.resolve([]);
    work.push(taken);
    try {
      await all(work);
    } catch (error) {
      outcomes.putBack(batch);
      throw error;
    }
    for (const jobId of await finished) {
      hooks.emit("job:interrupted", { jobId, job: null, reason: "lease_lost" });
    }
    this.#isOpen = isTaking;
    const jobs = await taken;
    if (isTaking) await this.#took(db, jobs);
    return jobs;
  }

  async #take(db: Database): Promise<ClaimedJob[]> {
    const { identifiers, forbiddenFlags, rawPayloads, taskName } = this.#parts;
    const { priority, runAt_s } = this.#lowWater.mark;
    const values: unknown[] = [identifiers, BATCH, priority, runAt_s];
    if (forbiddenFlags.length > 0) values.push(forbiddenFlags);
    this.#hasPulse = false;
    const rows = parseLocked(await query<{ jobs: string }>(db, this.#statement, values));
    await this.#parts.recognize(rows, db);
    const jobs = rows.map((row) => new ClaimedJob(row, taskName(row[1]), rawPayloads, 0));
    return workUnits(jobs).flatMap((unit) => unit.jobs);
  }

  /** A full batch promises more; an empty transaction is not kept open. */
  async #took(db: Database, jobs: readonly ClaimedJob[]): Promise<void> {
    const last = jobs.at(-1);
    if (jobs.length === BATCH && last !== undefined) {
      this.#hasPulse = true;
      this.#lowWater.remember(last);
    } else this.#lowWater.forget();
    if (last !== undefined) return;
    this.#isOpen = false;
    await statement(db, "commit");
  }

  async #runBatch(jobs: readonly ClaimedJob[]): Promise<void> {
    const { slots, limit_ms } = this.#parts;
    let next = 0;
    let isClosed = false;
    const started = new Set<string>();
    const runSlot = async (): Promise<void> => {
      this.#running++;
      for (let job = jobs[next++]; job !== undefined && !isClosed; job = jobs[next++]) {
        started.add(job.id);
        const pending = this.#parts.executor.run(job);
        if (pending !== undefined) await pending;
        started.delete(job.id);
      }
      this.#running--;
      slots.release();
      this.#wake?.();
    };
    const ended: Promise<void>[] = [];
    while (ended.length < jobs.length && slots.reserve()) ended.push(runSlot());
    const limit = new AbortController();
    const everyone = Promise.all(ended).finally(() => limit.abort());
    if (started.size > 0 && (await wait(limit_ms, limit.signal))) {
      isClosed = true;
      await this.#keep([...started]);
      this.#hasPulse = true;
    } else if (ended.length === 0) this.#hasPulse = true;
    else await everyone;
    if (next < jobs.length) this.#hasPulse = true;
  }

  /** The time is up: what still runs is locked in the classic way, the rest is let go. */
  async #keep(ids: string[]): Promise<void> {
    const { lane, workerId } = this.#parts;
    const db = lane.database;
    await all([keepJobs(db, workerId, ids), statement(db, "commit")]);
    this.#isOpen = false;
  }
}

function statement(db: Database, text: string): Promise<unknown> {
  return query(db, () => text);
}

/** All of them, and then the first error: none is left behind without a listener. */
async function all(work: readonly Promise<unknown>[]): Promise<void> {
  for (const one of await Promise.allSettled(work)) if (one.status === "rejected") throw one.reason;
}
