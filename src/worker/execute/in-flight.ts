// What the database has locked for this worker, as far as it knows: jobs that wait or run, and those
// whose results are still to be written. It is asked for when it is needed, after a lost connection,
// and never kept a second time.
import type { FetchedJob } from "./fetched-job.ts";

export interface InFlight {
  /** Jobs whose `locked_by` is the worker's id. */
  readonly jobs: readonly FetchedJob[];
  /** Named queues that are locked so. */
  readonly queueIds: readonly number[];
}

export function allInFlight(places: readonly InFlight[]): InFlight {
  return {
    jobs: places.flatMap(({ jobs }) => jobs),
    queueIds: places.flatMap(({ queueIds }) => queueIds),
  };
}
