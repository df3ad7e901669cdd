// Tracks fetches whose answers were lost. PostgreSQL may have locked jobs for such a fetch. These jobs are unlocked
// when the database responds again. A stop waits until then. If the worker has a lease, a stop waits only for a short
// time, and leaves the jobs to other workers, which recover them when the lease has expired:
//
//   end() ──150 ms──▶ fetches are cancelled ──250 ms──▶ the stop no longer waits for fetches
//                                             └ bytes have arrived: 400 ms more, at most four times
import type { Clock } from "../../base/clock.ts";
import { codeOf, messageOf } from "../../base/errors.ts";
import type { Logger } from "../../base/logger.ts";
import { registerTasks } from "../../queue/add/register-tasks.ts";
import { databaseTime } from "../../queue/cron/database-time.ts";
import { readLaterAttempts } from "../../queue/settle/fail.ts";
import { returnUnknownJobs } from "../../queue/settle/give-back.ts";
import type { WorkerConnections } from "../connection/connections.ts";
import type { WorkerConnection } from "../connection/worker-connection.ts";
import { isRefusedOrBusy } from "../execute/refusals.ts";
import { emitSettled, idOf, jobsIn, type ResultBatch, type Results } from "../execute/results.ts";
import type { FetcherLink } from "../fetch/fetcher.ts";
import type { TaskParameters } from "../fetch/task-parameters.ts";
import type { WorkerLease } from "../lease/worker-lease.ts";
import type { Hooks } from "../task/hooks.ts";
import { type FlushAnswer, flushAndFetch, settleRefused } from "./flush-and-fetch.ts";
import type { RoundTrips } from "./round-trips.ts";

/**
 * A stop cancels fetches that have no answer after this time, because the answer may be lost. It cancels none while
 * results are being written.
 */
const CANCEL_MS = 150;
const LEAVE_MS = 400;
/** The maximum number of waits of LEAVE_MS while bytes arrive. With a round trip of 200 ms, a stop takes 1.5 s. */
const MAX_WAITS = 5;

export interface UncertainLocksParts {
  readonly clock: Clock;
  readonly trips: Pick<RoundTrips, "isNone" | "hasResults">;
  /** Whether the worker has a lease: then other workers recover jobs that stay locked. */
  readonly lease: Pick<WorkerLease, "hasHeartbeats">;
  readonly connections: Pick<WorkerConnections, "cancel" | "bytesReceived">;
  /** Called when `delaysStop` may have become false, because a stop no longer waits for fetches. */
  onLeft(): void;
}

export class UncertainLocks {
  readonly #parts: UncertainLocksParts;
  #hasLostFetch = false;
  #isLeftToLease = false;
  #cancelTimers: (() => void)[] = [];

  constructor(parts: UncertainLocksParts) {
    this.#parts = parts;
  }

  /** Whether jobs may be locked by a fetch that has no answer, or because the write of their result has no answer. */
  get mayHaveLocks(): boolean {
    return this.#hasLostFetch || !this.#parts.trips.isNone;
  }

  /** Whether a stop has to wait until jobs are unlocked or results are written. */
  get delaysStop(): boolean {
    const { trips } = this.#parts;
    return this.#isLeftToLease ? trips.hasResults : this.#hasLostFetch || !trips.isNone;
  }

  /** Called when a fetch whose answer was lost may have locked jobs. */
  fetchLost(): void {
    this.#hasLostFetch = true;
  }

  /** Runs `work`, which unlocks the jobs of lost fetches. If the tables are missing, a stop waits for no locks. */
  async settle(work: () => Promise<void>): Promise<void> {
    try {
      await work();
      this.#hasLostFetch = false;
    } catch (error) {
      if (codeOf(error) === "schema_missing" && this.#cancelTimers.length > 0) {
        this.#hasLostFetch = false;
        this.#parts.onLeft();
      }
      throw error;
    }
  }

  /** Called when a stop has ended fetching: begins the steps that the header shows. Idempotent. */
  end(): void {
    if (this.#cancelTimers.length > 0) return;
    const { trips, connections } = this.#parts;
    this.#after(CANCEL_MS, () => {
      if (!trips.isNone && !trips.hasResults) connections.cancel();
    });
    this.#leaveAfter(MAX_WAITS);
  }

  /** Cancels the timers, which would keep the process alive. */
  close(): void {
    for (const cancel of this.#cancelTimers) cancel();
  }

  #leaveAfter(waits: number): void {
    const { connections, lease, onLeft } = this.#parts;
    const bytesBefore = connections.bytesReceived;
    this.#after(LEAVE_MS, () => {
      if (waits > 1 && connections.bytesReceived !== bytesBefore)
        return this.#leaveAfter(waits - 1);
      this.#isLeftToLease = lease.hasHeartbeats;
      onLeft();
    });
  }

  #after(ms: number, then: () => void): void {
    this.#cancelTimers.push(this.#parts.clock.after(ms, then));
  }
}

export interface ReconcileParts {
  readonly workerId: string;
  readonly config: { readonly logger: Logger };
  readonly hooks: Hooks;
  readonly results: Results;
  readonly tasks: TaskParameters;
  readonly link: Pick<FetcherLink, "inFlight" | "slots">;
  onWritten(answer: FlushAnswer, sent: ResultBatch): void;
}

/** Writes all results, including those whose write was not confirmed, and unlocks the jobs of lost fetches. */
export async function reconcile(
  connection: WorkerConnection,
  { workerId, config, hooks, results, tasks, link, onWritten }: ReconcileParts,
): Promise<void> {
  const ownJobs = () => [...link.inFlight().jobs, ...link.slots.runningAlone];
  const { repeatedFailures } = results;
  const fetched =
    repeatedFailures.length > 0
      ? await readLaterAttempts(connection.database, workerId, repeatedFailures)
      : [];
  const outdated = results.takeOutdated(ownJobs(), new Set(fetched.map(({ id }) => id)));
  emitSettled(hooks, workerId, outdated, jobsIn(outdated).map(idOf));
  // Results are written before the next fetch, which may lock the same job for its next attempt. Queues are unlocked
  // below, together with the jobs of lost fetches, so that the jobs of a queue keep their order.
  const taken = results.send();
  const sent = { ...taken, unlockedQueues: [] };
  const first = await flushAndFetch(connection, workerId, sent, null);
  const answer = await settleRefused(connection, workerId, first);
  onWritten(answer, taken);
  // A queue stays locked until its jobs are returned, so that later jobs of the queue do not start first.
  const { unconfirmed } = answer;
  const waiting = taken.unlockedQueues.filter((lock) =>
    unconfirmed.returned.some(({ runLock }) => runLock === lock),
  );
  results.putBack({ ...unconfirmed, unlockedQueues: waiting });
  results.endWait(taken);
  // Results that PostgreSQL cannot write now are sent again later; meanwhile other jobs run.
  if (answer.failure !== null && !isRefusedOrBusy(answer.failure)) throw answer.failure;
  await registerTasks(connection.database, tasks.names);
  // The time is read before the list of jobs, and jobs that are locked after this time stay locked. Since the list was
  // read, a fast lane may have locked one of them by `locked_by`.
  const sinceMs = await databaseTime(connection.database);
  const { refused } = await returnUnknownJobs(
    connection.patientSingly,
    workerId,
    ownJobs().map(idOf),
    link.inFlight().queueIds,
    sinceMs,
  );
  for (const { id, error } of refused) {
    const fields = { job_id: id, error: messageOf(error) };
    config.logger.error(fields, "PostgreSQL refuses to unlock a job");
  }
}
