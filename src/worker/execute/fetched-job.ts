// The job that a task receives.
import { monotonic } from "../../base/clock.ts";
import type { Database } from "../../database/database.ts";
import { deadlineOf } from "../../domain/job-flags.ts";
import type { FetchedRows } from "../../queue/fetch/fetched-rows.ts";
import { queueOf } from "../../queue/sql/slots.ts";
import type { JobCancelled } from "../task/outcomes.ts";
import type { TaskJob } from "../task/task-job.ts";

/** Shared by all jobs of one FetchedRows. */
export interface FetchAnswer {
  readonly rows: FetchedRows;
  /** When the jobs and their large payloads had been read, in milliseconds of the monotonic clock. */
  readonly atMs: number;
}

/** A stream (safe/stream.ts) for tasks with a limit. */
export interface LimitedStream {
  /** How many of the stream's jobs may start now. */
  readonly startable: number;
  jobBegan(): void;
  jobEnded(): void;
  /** Called when a change of the limits moves a running job to another stream, or to none. */
  jobLeft(): void;
}

export class FetchedJob implements TaskJob {
  readonly id: string;
  /** The number of the locked named queue, or of the queue's locked slot (queue/sql/slots.ts); null: no queue. */
  readonly runLock: number | null;
  /** Set when this attempt was cancelled. */
  cancelled: JobCancelled | undefined;
  /** The stream of the job's limited task. It is a field, because an entry in a WeakMap took 0.8 µs for each job. */
  stream: LimitedStream | undefined;
  readonly #answer: FetchAnswer;
  readonly #index: number;
  #payload: unknown;

  constructor(answer: FetchAnswer, index: number) {
    const { ids, locks } = answer.rows;
    this.id = ids[index] as string;
    this.runLock = locks === null ? null : (locks[index] ?? null);
    this.#answer = answer;
    this.#index = index;
  }

  get queueId(): number | null {
    return this.runLock === null ? null : queueOf(this.runLock);
  }
  get taskId(): number {
    return this.#answer.rows.taskIds[this.#index] as number;
  }
  get taskIdentifier(): string {
    return this.#answer.rows.taskName(this.#index);
  }
  /** False if the payload was too large for the fetch, and could not be read afterwards. */
  get isLoaded(): boolean {
    return this.#answer.rows.isLoaded(this.#index);
  }
  get fetchedAtMs(): number {
    return this.#answer.atMs;
  }
  get payload(): unknown {
    // JSON never parses to undefined.
    if (this.#payload === undefined) this.#payload = JSON.parse(this.payloadText);
    return this.#payload;
  }
  /** Releases the parsed payload of an ended job. */
  releasePayload(): void {
    this.#payload = undefined;
  }
  get payloadText(): string {
    return this.#answer.rows.payloadText(this.#index);
  }
  get priority(): number {
    return this.#answer.rows.priorities[this.#index] as number;
  }
  get runAtSeconds(): number {
    return this.#answer.rows.runAts[this.#index] as number;
  }
  get runAt(): Date {
    return dateOf(this.runAtSeconds);
  }
  get attempts(): number {
    return this.#answer.rows.attempts(this.#index);
  }
  get maxAttempts(): number {
    return this.#answer.rows.maxAttempts(this.#index);
  }
  get key(): string | null {
    return this.#answer.rows.rare(this.#index).key;
  }
  get revision(): number {
    return this.#answer.rows.rare(this.#index).revision;
  }
  get flags(): readonly string[] {
    return this.#answer.rows.rare(this.#index).flags;
  }
  /** In milliseconds since 1970; null: no deadline. */
  get deadlineMs(): number | null {
    const { flags } = this;
    return flags.length === 0 ? null : deadlineOf(flags);
  }
  get createdAt(): Date {
    return dateOf(this.#answer.rows.createdAt(this.#index));
  }
  get lastError(): string | null {
    return this.#answer.rows.rare(this.#index).lastError;
  }
  get isQueued(): boolean {
    return this.runLock !== null;
  }
  get queueName(): string | null {
    return this.runLock === null ? null : this.#answer.rows.queueName(this.runLock);
  }
}

/**
 * Returns the jobs of a fetch in (priority, run_at, id) order, after reading their large payloads. If a large payload
 * cannot be read, `onError` receives the error, and `isLoaded` of the job is false. Without `onError`, the error is
 * thrown.
 */
export async function loadedJobs(
  answers: readonly FetchedRows[],
  db: Database,
  onError?: (error: unknown) => void,
): Promise<FetchedJob[]> {
  for (const rows of answers) await rows.load(db).catch(onError);
  const atMs = monotonic();
  const jobs = answers.flatMap((rows) => {
    const answer = { rows, atMs };
    return rows.ids.map((_, index) => new FetchedJob(answer, index));
  });
  return jobs.sort(inOrder);
}

/** The half microsecond corrects the rounding error of a double. */
function dateOf(moment_s: number): Date {
  return new Date(Math.floor(moment_s * 1000 + 0.0005));
}

/** Compares two jobs by priority, run_at and id. */
export function inOrder(a: FetchedJob, b: FetchedJob): number {
  if (a.priority !== b.priority) return a.priority - b.priority;
  if (a.runAtSeconds !== b.runAtSeconds) return a.runAtSeconds - b.runAtSeconds;
  // Ids are decimal texts without leading zeros, so the shorter id is smaller.
  if (a.id.length !== b.id.length) return a.id.length - b.id.length;
  return a.id < b.id ? -1 : 1;
}
