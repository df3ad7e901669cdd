// The values and objects with which SafeFetcher is created. It shares some of them with the fetcher of the fast mode.
import type { Clock } from "../../base/clock.ts";
import type { JobKind } from "../../queue/fetch/fetch-form.ts";
import type { ConnectionsParts } from "../connection/connections.ts";
import type { WorkerConnection } from "../connection/worker-connection.ts";
import type { JobExecutor } from "../execute/job-executor.ts";
import type { Refusals } from "../execute/refusals.ts";
import type { Results } from "../execute/results.ts";
import type { TaskParameters } from "../fetch/task-parameters.ts";
import type { WorkerLease } from "../lease/worker-lease.ts";
import type { SessionLimits } from "../limits/session-limits.ts";
import type { WorkerConfig } from "../options/worker-options.ts";
import type { Hooks } from "../task/hooks.ts";

export interface SafeFetcherParts<E> {
  readonly config: WorkerConfig<E>;
  readonly workerId: string;
  readonly clock: Clock;
  readonly connections: readonly WorkerConnection[];
  readonly executor: JobExecutor<E>;
  /** The results of all jobs locked by `locked_by`, including the fast mode's kept jobs (fast/kept-jobs.ts). */
  readonly results: Results;
  readonly refusals: Refusals;
  /** The parameters of fetches that take jobs of tasks without a limit. `names` also has the tasks with a limit. */
  readonly tasks: TaskParameters;
  /** Returns the parameters of fetches that take jobs of these tasks. All of these tasks have limits. */
  parametersOf(names: readonly string[]): TaskParameters;
  readonly limits: SessionLimits;
  readonly hooks: Hooks;
  readonly outage: ConnectionsParts["outage"];
  /** Which jobs without a named queue the main stream (streams.ts) fetches: all, or those not for the fast mode. */
  readonly free: JobKind;
  readonly lease: WorkerLease;
}
