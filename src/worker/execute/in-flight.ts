// The jobs and queues that are locked by `locked_by` for a session of this worker, according to the answers that the
// session has received from the database. Each of the jobs waits in the local queue, runs, or has a result that is not
// confirmed.
import type { FetchedJob } from "./fetched-job.ts";

export interface InFlight {
  /** Jobs whose `locked_by` is the session's id. */
  readonly jobs: readonly FetchedJob[];
  /**
   * The locks of runs of queues, as numbers (queue/sql/slots.ts). A run locks its queue, or one slot of a queue that is
   * under a limit.
   */
  readonly queueIds: readonly number[];
}

export function allInFlight(places: readonly InFlight[]): InFlight {
  return {
    jobs: places.flatMap(({ jobs }) => jobs),
    queueIds: places.flatMap(({ queueIds }) => queueIds),
  };
}
