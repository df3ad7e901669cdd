// A job as its task sees it: a place in the columns of its claim, read on demand.
import type { JobRows } from "../queue/claimed-rows.ts";

/** The job that a task runs. Ids are strings: they are PostgreSQL bigints. */
export interface TaskJob<Payload = unknown> {
  readonly id: string;
  readonly taskIdentifier: string;
  /** The exact stored JSON text: integers beyond 2^53 survive. */
  readonly payloadText: string;
  readonly payload: Payload;
  readonly priority: number;
  readonly runAt: Date;
  /** Counts this attempt: the first is 1. */
  readonly attempts: number;
  readonly maxAttempts: number;
  readonly key: string | null;
  readonly revision: number;
  readonly flags: readonly string[];
  readonly createdAt: Date;
  /** The error of the attempt before this one. */
  readonly lastError: string | null;
  /** Whether the job belongs to a named queue. */
  readonly isQueued: boolean;
}

/** What the jobs of one claim share. */
export interface Claimed {
  readonly rows: JobRows;
  readonly taskNames: ReadonlyMap<number, string>;
  /** When the claim came in, by the monotonic clock: for the local queue's ttl. */
  readonly at_ms: number;
}

export class ClaimedJob implements TaskJob {
  readonly id: string;
  readonly queueId: number | null;
  readonly #claimed: Claimed;
  readonly #place: number;
  #payload: unknown;

  constructor(claimed: Claimed, place: number) {
    const { ids, queueIds } = claimed.rows;
    this.id = ids[place] as string;
    this.queueId = queueIds === null ? null : (queueIds[place] ?? null);
    this.#claimed = claimed;
    this.#place = place;
  }

  get taskIdentifier(): string {
    const { rows, taskNames } = this.#claimed;
    return taskNames.get(rows.taskIds[this.#place] as number) ?? "";
  }
  /** Whether its payload has come. */
  get isLoaded(): boolean {
    return this.#claimed.rows.isLoaded(this.#place);
  }
  get claimedAt_ms(): number {
    return this.#claimed.at_ms;
  }
  get payload(): unknown {
    // No JSON gives undefined.
    if (this.#payload === undefined) this.#payload = JSON.parse(this.payloadText);
    return this.#payload;
  }
  get payloadText(): string {
    return this.#claimed.rows.payloadText(this.#place);
  }
  get priority(): number {
    return this.#claimed.rows.priorities[this.#place] as number;
  }
  get runAt_s(): number {
    return this.#claimed.rows.runAts_s[this.#place] as number;
  }
  get runAt(): Date {
    return dateOf(this.runAt_s);
  }
  get attempts(): number {
    return this.#claimed.rows.attempts(this.#place);
  }
  get maxAttempts(): number {
    return this.#claimed.rows.maxAttempts(this.#place);
  }
  get key(): string | null {
    return this.#claimed.rows.rare(this.#place).key;
  }
  get revision(): number {
    return this.#claimed.rows.rare(this.#place).revision;
  }
  get flags(): readonly string[] {
    return this.#claimed.rows.rare(this.#place).flags;
  }
  get createdAt(): Date {
    return dateOf(this.#claimed.rows.createdAt_s(this.#place));
  }
  get lastError(): string | null {
    return this.#claimed.rows.rare(this.#place).lastError;
  }
  get isQueued(): boolean {
    return this.queueId !== null;
  }
}

/** Jobs of one named queue, which is locked for us: one slot runs them one after another. */
export class QueueRun {
  readonly queueId: number;
  readonly jobs: ClaimedJob[] = [];

  constructor(queueId: number) {
    this.queueId = queueId;
  }
}

/** What one slot runs without a break. */
export type WorkUnit = ClaimedJob | QueueRun;

export function jobsOf(unit: WorkUnit): readonly ClaimedJob[] {
  return unit instanceof QueueRun ? unit.jobs : [unit];
}

/** The jobs of a claim in (priority, run_at, id) order. */
export function jobsInOrder(claimed: Claimed): ClaimedJob[] {
  const jobs = claimed.rows.ids.map((_, place) => new ClaimedJob(claimed, place));
  return jobs.sort(inOrder);
}

/** Groups jobs, which are in order, into units. */
export function workUnits(jobs: readonly ClaimedJob[]): readonly WorkUnit[] {
  if (jobs.every((job) => job.queueId === null)) return jobs;
  const runs = new Map<number, QueueRun>();
  const units: WorkUnit[] = [];
  for (const job of jobs) {
    const { queueId } = job;
    if (queueId === null) {
      units.push(job);
      continue;
    }
    let run = runs.get(queueId);
    if (run === undefined) {
      run = new QueueRun(queueId);
      runs.set(queueId, run);
      units.push(run);
    }
    run.jobs.push(job);
  }
  return units;
}

/** A Date has milliseconds; the half microsecond is for what a double has lost. */
function dateOf(moment_s: number): Date {
  return new Date(Math.floor(moment_s * 1000 + 0.0005));
}

function inOrder(a: ClaimedJob, b: ClaimedJob): number {
  if (a.priority !== b.priority) return a.priority - b.priority;
  if (a.runAt_s !== b.runAt_s) return a.runAt_s - b.runAt_s;
  // Ids are decimal text without leading zeros: shorter is smaller.
  if (a.id.length !== b.id.length) return a.id.length - b.id.length;
  return a.id < b.id ? -1 : 1;
}
