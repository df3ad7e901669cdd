// The jobs and queues that are locked for this worker, by all answers that it has: waiting and running jobs, and
// jobs whose results are not written. Computed when needed, after a lost connection.
import type { FetchedJob } from "./fetched-job.ts";

export interface InFlight {
  /** Jobs whose `locked_by` is the worker's id. */
  readonly jobs: readonly FetchedJob[];
  /** The locks of runs of named queues under the worker's id: queues, or slots of managed ones (queue/sql/slots.ts). */
  readonly queueIds: readonly number[];
}

export function allInFlight(places: readonly InFlight[]): InFlight {
  return {
    jobs: places.flatMap(({ jobs }) => jobs),
    queueIds: places.flatMap(({ queueIds }) => queueIds),
  };
}
