// The jobs and queues that are locked for a session of this worker, according to all answers that it has received: jobs
// that wait in the local queue, running jobs, and jobs whose results are not confirmed.
import type { FetchedJob } from "./fetched-job.ts";

export interface InFlight {
  /** Jobs whose `locked_by` is the session's id. */
  readonly jobs: readonly FetchedJob[];
  /** What runs of queues have locked: ids of queues, or ids of slots of queues under a limit (queue/sql/slots.ts). */
  readonly queueIds: readonly number[];
}

export function allInFlight(places: readonly InFlight[]): InFlight {
  return {
    jobs: places.flatMap(({ jobs }) => jobs),
    queueIds: places.flatMap(({ queueIds }) => queueIds),
  };
}
