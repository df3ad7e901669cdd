// Tracks lost fetches: fetches whose answers were lost. Jobs that such a fetch has locked are unlocked when the
// database responds again. A stop of the worker waits until then. If the worker has a lease, the stop waits only for a
// short time, because other workers recover the jobs:
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

/** After this time, a stop cancels fetches that have no answer, unless the cancel could also end a write of results. */
const CANCEL_MS = 150;
const LEAVE_MS = 400;
/** The maximum number of waits of LEAVE_MS. If a round trip takes 200 ms, a stop needs four waits. */
const MAX_WAITS = 5;

export interface UncertainLocksParts {
  readonly clock: Clock;
  readonly trips: Pick<RoundTrips, "isNone" | "hasResults">;
  /** `hasHeartbeats`: whether the worker has a lease. */
  readonly lease: Pick<WorkerLease, "hasHeartbeats">;
  readonly connections: Pick<WorkerConnections, "cancel" | "bytesReceived">;
  /** Called when `delaysStop` may have become false. */
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

  /** Whether jobs may be locked because a fetch, or the write of their results, has no answer. */
  get mayHaveLocks(): boolean {
    return this.#hasLostFetch || !this.#parts.trips.isNone;
  }

  /** Whether a stop has to wait until jobs are unlocked or results are written. */
  get delaysStop(): boolean {
    const { trips } = this.#parts;
    return this.#isLeftToLease ? trips.hasResults : this.#hasLostFetch || !trips.isNone;
  }

  /** Called when a lost fetch may have locked jobs. */
  fetchLost(): void {
    this.#hasLostFetch = true;
  }

  /**
   * Runs `work`, which unlocks the jobs of lost fetches. If `work` fails during a stop because the tables are missing,
   * the stop no longer waits for lost fetches.
   */
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

  /** Begins the steps of a stop that the header shows. A second call has no effect. */
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
  // Results are written before the next fetch, which may lock one of these jobs for its next attempt.
  // Queues are unlocked below, together with the jobs of lost fetches.
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
  // If PostgreSQL refuses results, or cannot write them now, other jobs can still run.
  if (answer.failure !== null && !isRefusedOrBusy(answer.failure)) throw answer.failure;
  await registerTasks(connection.database, tasks.names);
  // Jobs that are locked after `sinceMs` stay locked: they may be jobs of the fast lane that are not yet in ownJobs().
  // So `sinceMs` is read before ownJobs() is called below.
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
