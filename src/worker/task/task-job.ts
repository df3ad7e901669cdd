// A job as its task sees it.

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
  /** The named queue that it belongs to. */
  readonly queueName: string | null;
}
