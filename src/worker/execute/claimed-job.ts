// A job as its task sees it: an index into the columns of its claim, read on demand.
import { monotonic } from "../../base/clock.ts";
import type { Database } from "../../database/database.ts";
import type { ClaimedRows } from "../../queue/fetch/claimed-rows.ts";
import type { TaskJob } from "../task/task-job.ts";

/** What the jobs of one claim share. */
export interface Claimed {
  readonly rows: ClaimedRows;
  /** When the claim came in, by the monotonic clock: for the local queue's ttl. */
  readonly atMs: number;
}

export class ClaimedJob implements TaskJob {
  readonly id: string;
  readonly queueId: number | null;
  readonly #claimed: Claimed;
  readonly #index: number;
  #payload: unknown;

  constructor(claimed: Claimed, index: number) {
    const { ids, queueIds } = claimed.rows;
    this.id = ids[index] as string;
    this.queueId = queueIds === null ? null : (queueIds[index] ?? null);
    this.#claimed = claimed;
    this.#index = index;
  }

  get taskId(): number {
    return this.#claimed.rows.taskIds[this.#index] as number;
  }
  get taskIdentifier(): string {
    return this.#claimed.rows.taskName(this.#index);
  }
  /** Whether its payload has come. */
  get isLoaded(): boolean {
    return this.#claimed.rows.isLoaded(this.#index);
  }
  get claimedAtMs(): number {
    return this.#claimed.atMs;
  }
  get payload(): unknown {
    // No JSON gives undefined.
    if (this.#payload === undefined) this.#payload = JSON.parse(this.payloadText);
    return this.#payload;
  }
  /** It has ended, and waits for its result to be written: what is asked for later is parsed again. */
  ended(): void {
    this.#payload = undefined;
  }
  get payloadText(): string {
    return this.#claimed.rows.payloadText(this.#index);
  }
  get priority(): number {
    return this.#claimed.rows.priorities[this.#index] as number;
  }
  get runAtSeconds(): number {
    return this.#claimed.rows.runAts[this.#index] as number;
  }
  get runAt(): Date {
    return dateOf(this.runAtSeconds);
  }
  get attempts(): number {
    return this.#claimed.rows.attempts(this.#index);
  }
  get maxAttempts(): number {
    return this.#claimed.rows.maxAttempts(this.#index);
  }
  get key(): string | null {
    return this.#claimed.rows.rare(this.#index).key;
  }
  get revision(): number {
    return this.#claimed.rows.rare(this.#index).revision;
  }
  get flags(): readonly string[] {
    return this.#claimed.rows.rare(this.#index).flags;
  }
  get createdAt(): Date {
    return dateOf(this.#claimed.rows.createdAt(this.#index));
  }
  get lastError(): string | null {
    return this.#claimed.rows.rare(this.#index).lastError;
  }
  get isQueued(): boolean {
    return this.queueId !== null;
  }
  get queueName(): string | null {
    return this.queueId === null ? null : this.#claimed.rows.queueName(this.queueId);
  }
}

/**
 * The jobs of a fetch in (priority, run_at, id) order, with their large payloads. `onError`: jobs without a
 * payload that cannot be had, which are given back unstarted; else it throws WorkerError.
 */
export async function loadedJobs(
  answers: readonly ClaimedRows[],
  db: Database,
  onError?: (error: unknown) => void,
): Promise<ClaimedJob[]> {
  for (const rows of answers) await rows.load(db).catch(onError);
  const atMs = monotonic();
  const jobs = answers.flatMap((rows) => {
    const claimed = { rows, atMs };
    return rows.ids.map((_, index) => new ClaimedJob(claimed, index));
  });
  return jobs.sort(inOrder);
}

/** A Date has milliseconds; the half microsecond is for what a double has lost. */
function dateOf(moment_s: number): Date {
  return new Date(Math.floor(moment_s * 1000 + 0.0005));
}

function inOrder(a: ClaimedJob, b: ClaimedJob): number {
  if (a.priority !== b.priority) return a.priority - b.priority;
  if (a.runAtSeconds !== b.runAtSeconds) return a.runAtSeconds - b.runAtSeconds;
  // Ids are decimal text without leading zeros: shorter is smaller.
  if (a.id.length !== b.id.length) return a.id.length - b.id.length;
  return a.id < b.id ? -1 : 1;
}
