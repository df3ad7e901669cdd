// What the safe mode is made of, and with whom it shares.
import type { Clock } from "../../base/clock.ts";
import type { JobKind } from "../../queue/fetch/fetch-form.ts";
import type { ConnectionsParts } from "../connection/connections.ts";
import type { WorkerConnection } from "../connection/worker-connection.ts";
import type { JobExecutor } from "../execute/job-executor.ts";
import type { Refusals } from "../execute/refusals.ts";
import type { Results } from "../execute/results.ts";
import type { TaskParameters } from "../fetch/task-parameters.ts";
import type { WorkerLease } from "../lease/worker-lease.ts";
import type { WorkerConfig } from "../options/worker-options.ts";
import type { Hooks } from "../task/hooks.ts";

export interface SafeFetcherParts<E> {
  readonly config: WorkerConfig<E>;
  readonly workerId: string;
  readonly clock: Clock;
  readonly connections: readonly WorkerConnection[];
  readonly executor: JobExecutor<E>;
  /** Of all jobs that the worker's id has locked, also those that another fetcher hands over. */
  readonly results: Results;
  readonly refusals: Refusals;
  readonly tasks: TaskParameters;
  readonly hooks: Hooks;
  readonly outage: ConnectionsParts["outage"];
  /** Of the jobs without a queue, those that no other fetcher takes. */
  readonly free: JobKind;
  readonly lease: WorkerLease;
}
