// The jobs and queues that are locked for this worker, by all answers that it has: waiting and running jobs, and
// jobs whose results are not written. Computed when needed, after a lost connection.
import type { FetchedJob } from "./fetched-job.ts";

export interface InFlight {
  /** Jobs whose `locked_by` is the worker's id. */
  readonly jobs: readonly FetchedJob[];
  /** Named queues that are locked by the worker's id. */
  readonly queueIds: readonly number[];
}

export function allInFlight(places: readonly InFlight[]): InFlight {
  return {
    jobs: places.flatMap(({ jobs }) => jobs),
    queueIds: places.flatMap(({ queueIds }) => queueIds),
  };
}
