// A job as its task sees it: made from a claim's row, everything that costs time only on demand.
import type { ClaimedRow } from "../queue/claim-jobs.ts";

/** The job that a task runs. Ids are strings: they are PostgreSQL bigints. */
export interface TaskJob<Payload = unknown> {
  readonly id: string;
  readonly taskIdentifier: string;
  /** Exact JSON text, where the task asked for `rawPayload`; otherwise the payload printed again. */
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

export class ClaimedJob implements TaskJob {
  readonly id: string;
  readonly taskIdentifier: string;
  readonly queueId: number | null;
  /** When the claim came in, by the monotonic clock: for the local queue's ttl. */
  readonly claimedAt_ms: number;
  readonly #row: ClaimedRow;
  readonly #rawPayloads: boolean;
  #payload: unknown;
  #parsed = false;

  constructor(row: ClaimedRow, taskIdentifier: string, rawPayloads: boolean, claimedAt_ms: number) {
    this.id = row[0];
    this.taskIdentifier = taskIdentifier;
    this.queueId = row[2];
    this.claimedAt_ms = claimedAt_ms;
    this.#row = row;
    this.#rawPayloads = rawPayloads;
  }

  get payload(): unknown {
    if (!this.#parsed) {
      this.#payload = this.#rawPayloads ? JSON.parse(this.#row[3] as string) : this.#row[3];
      this.#parsed = true;
    }
    return this.#payload;
  }

  get payloadText(): string {
    return this.#rawPayloads ? (this.#row[3] as string) : JSON.stringify(this.#row[3]);
  }

  get priority(): number {
    return this.#row[4];
  }
  get runAt_s(): number {
    return seconds(this.#row[5]);
  }
  get runAt(): Date {
    return new Date(this.runAt_s * 1000);
  }
  get attempts(): number {
    return this.#row[6];
  }
  get maxAttempts(): number {
    return this.#row[7];
  }
  get key(): string | null {
    return this.#row[8];
  }
  get revision(): number {
    return this.#row[9];
  }
  get flags(): readonly string[] {
    return this.#row[10] === null ? [] : Object.keys(this.#row[10] as object);
  }
  get createdAt(): Date {
    return new Date(seconds(this.#row[11]) * 1000);
  }
  get lastError(): string | null {
    return this.#row[12];
  }
  get isQueued(): boolean {
    return this.queueId !== null;
  }
}

// The edge of what a Date can hold stands for PostgreSQL's -infinity.
const EARLIEST_S = -8.64e12;

function seconds(value: number | string): number {
  return typeof value === "number" ? Math.max(value, EARLIEST_S) : EARLIEST_S;
}

/** What one slot runs without a break: a single job, or a run of jobs of one named queue. */
export interface WorkUnit {
  readonly jobs: readonly ClaimedJob[];
  readonly queueId: number | null;
}

/** Groups a claim into units, in (priority, run_at, id) order. */
export function workUnits(jobs: ClaimedJob[]): WorkUnit[] {
  jobs.sort(inOrder);
  const runs = new Map<number, ClaimedJob[]>();
  const units: WorkUnit[] = [];
  for (const job of jobs) {
    const { queueId } = job;
    if (queueId === null) {
      units.push({ jobs: [job], queueId });
      continue;
    }
    const run = runs.get(queueId);
    if (run !== undefined) {
      run.push(job);
      continue;
    }
    const first = [job];
    runs.set(queueId, first);
    units.push({ jobs: first, queueId });
  }
  return units;
}

function inOrder(a: ClaimedJob, b: ClaimedJob): number {
  if (a.priority !== b.priority) return a.priority - b.priority;
  if (a.runAt_s !== b.runAt_s) return a.runAt_s - b.runAt_s;
  // Ids are decimal text without leading zeros: shorter is smaller.
  if (a.id.length !== b.id.length) return a.id.length - b.id.length;
  return a.id < b.id ? -1 : 1;
}
