// Tracks whether jobs may be locked by a fetch without an answer. They are returned once the database answers. A
// stop waits for that, for a short time.
//
//   end ──150 ms──▶ fetches are cancelled ──400 ms──▶ left to the lease and its recovery
//                                           └ bytes have arrived: 400 ms more, at most five times in all
import type { Clock } from "../../base/clock.ts";
import { codeOf, messageOf } from "../../base/errors.ts";
import type { Logger } from "../../base/logger.ts";
import { registerTasks } from "../../queue/add/register-tasks.ts";
import { returnUnknownJobs } from "../../queue/settle/give-back.ts";
import type { WorkerConnections } from "../connection/connections.ts";
import type { WorkerConnection } from "../connection/worker-connection.ts";
import { emitSettled, idOf, jobsIn, type ResultBatch, type Results } from "../execute/results.ts";
import type { FetcherLink } from "../fetch/fetcher.ts";
import type { TaskParameters } from "../fetch/task-parameters.ts";
import type { WorkerLease } from "../lease/worker-lease.ts";
import type { Hooks } from "../task/hooks.ts";
import { type FlushAnswer, flushAndFetch } from "./flush-and-fetch.ts";
import type { RoundTrips } from "./round-trips.ts";

/** A fetch that takes longer is slow, or its server does not answer. */
const CANCEL_MS = 150;
const LEAVE_MS = 400;
/** The most waits of LEAVE_MS while bytes arrive. With a round trip of 200 ms, all of it takes 1.5 s. */
const MAX_MOMENTS = 5;

export interface UncertainLocksParts {
  readonly clock: Clock;
  readonly trips: Pick<RoundTrips, "isNone" | "hasResults">;
  /** With a lease, other workers recover jobs that stay locked. */
  readonly lease: Pick<WorkerLease, "hasHeartbeats">;
  readonly connections: Pick<WorkerConnections, "cancel" | "bytesReceived">;
  /** Called when the stop waits for results only. */
  onLeft(): void;
}

export class UncertainLocks {
  readonly #parts: UncertainLocksParts;
  #hasBroken = false;
  #isLeft = false;
  #cancelTimers: (() => void)[] = [];

  constructor(parts: UncertainLocksParts) {
    this.#parts = parts;
  }

  get isRaised(): boolean {
    return this.#hasBroken || (this.#isLeft && !this.#parts.trips.isNone);
  }

  /** Whether a stop has to wait, for the return of jobs or for results. */
  get isWaitedFor(): boolean {
    const { trips } = this.#parts;
    return this.#isLeft ? trips.hasResults : this.#hasBroken || !trips.isNone;
  }

  /** A fetch has lost its connection. */
  raise(): void {
    this.#hasBroken = true;
  }

  /** Runs `work`, which returns the uncertain jobs. Without tables there are no locks to wait for. */
  async settling(work: () => Promise<void>): Promise<void> {
    try {
      await work();
      this.#hasBroken = false;
    } catch (error) {
      if (codeOf(error) === "schema_missing" && this.#cancelTimers.length > 0) {
        this.#hasBroken = false;
        this.#parts.onLeft();
      }
      throw error;
    }
  }

  /** Called when nothing more is fetched. Idempotent. */
  end(): void {
    if (this.#cancelTimers.length > 0) return;
    const { trips, connections } = this.#parts;
    this.#after(CANCEL_MS, () => {
      if (!trips.isNone && !trips.hasResults) connections.cancel();
    });
    this.#leaveIn(MAX_MOMENTS);
  }

  /** Cancels the timers, which would keep the process alive. */
  close(): void {
    for (const cancel of this.#cancelTimers) cancel();
  }

  #leaveIn(moments: number): void {
    const { connections, lease, onLeft } = this.#parts;
    const bytesBefore = connections.bytesReceived;
    this.#after(LEAVE_MS, () => {
      if (moments > 1 && connections.bytesReceived !== bytesBefore)
        return this.#leaveIn(moments - 1);
      this.#isLeft = lease.hasHeartbeats;
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
  written(answer: FlushAnswer, sent: ResultBatch): void;
}

/** Writes what a lost connection has left, and returns the jobs that a lost fetch may have locked. */
export async function reconcile(
  connection: WorkerConnection,
  { workerId, config, hooks, results, tasks, link, written }: ReconcileParts,
): Promise<void> {
  const held = () => [...link.inFlight().jobs, ...link.slots.runningAlone];
  const outdated = results.takeOutdated(held());
  emitSettled(hooks, workerId, outdated, jobsIn(outdated).map(idOf));
  // Results are written before the next fetch, because later the lock may be that of another attempt. Queues are
  // unlocked below, after the return of jobs that a lost fetch may have locked, so that their order is kept.
  const taken = results.send();
  const answer = await flushAndFetch(connection, workerId, { ...taken, freedQueues: [] }, null);
  written(answer, taken);
  results.putBack(answer.unconfirmed);
  results.answered(taken);
  if (answer.failure !== null) throw answer.failure;
  await registerTasks(connection.database, tasks.names);
  const { refused } = await returnUnknownJobs(
    connection.patientSingly,
    workerId,
    held().map(idOf),
    link.inFlight().queueIds,
  );
  for (const { id, error } of refused) {
    const fields = { job_id: id, error: messageOf(error) };
    config.logger.error(fields, "PostgreSQL refuses to unlock a job");
  }
}
