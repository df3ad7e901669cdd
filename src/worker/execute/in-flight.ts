// The jobs and queues that are locked for this worker, according to all answers that it has received: waiting and
// running jobs, and jobs whose results are not written. Computed after a lost connection, and at the end of a session.
import type { FetchedJob } from "./fetched-job.ts";

export interface InFlight {
  /** Jobs whose `locked_by` is the worker's id. */
  readonly jobs: readonly FetchedJob[];
  /** The locks of the worker's runs: ids of queues, or of slots of queues under a limit (queue/sql/slots.ts). */
  readonly queueIds: readonly number[];
}

export function allInFlight(places: readonly InFlight[]): InFlight {
  return {
    jobs: places.flatMap(({ jobs }) => jobs),
    queueIds: places.flatMap(({ queueIds }) => queueIds),
  };
}
