// The type of the job that a task receives.

/** The job that a task runs. */
export interface TaskJob<Payload = unknown> {
  /** The job's id: a string, because a number does not hold all bigints of PostgreSQL exactly. */
  readonly id: string;
  /** The task identifier. */
  readonly taskIdentifier: string;
  /** The payload's JSON text, as it is stored. */
  readonly payloadText: string;
  /** The payload, parsed at first use. Integers beyond 2^53 are exact in `payloadText` only. */
  readonly payload: Payload;
  /** The priority: lower runs earlier. */
  readonly priority: number;
  /** The earliest time at which the job may run. */
  readonly runAt: Date;
  /** The number of this attempt, from 1. */
  readonly attempts: number;
  /** The number of attempts after which the job fails. */
  readonly maxAttempts: number;
  /** The job key; null without one. */
  readonly key: string | null;
  /** How many adds with the job's key followed the first add, whether or not they changed the job. */
  readonly revision: number;
  /** The names of the job's flags. */
  readonly flags: readonly string[];
  /** The time at which the job was added. */
  readonly createdAt: Date;
  /** The error of the previous failed attempt; null without one. */
  readonly lastError: string | null;
  /** Whether the job belongs to a named queue. */
  readonly isQueued: boolean;
  /** The name of the named queue; null without one. */
  readonly queueName: string | null;
}
