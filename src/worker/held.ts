// What the database has locked for this worker, as far as it knows: jobs that wait or run, and those
// whose outcomes are still to be written. What is locked for it beyond that is unknown to it.
import type { ClaimedJob } from "./claimed-job.ts";
import type { Outcomes } from "./outcomes.ts";

export interface Held {
  readonly jobs: readonly ClaimedJob[];
  /** Named queues. */
  readonly queueIds: readonly number[];
}

export function held(places: readonly Held[], outcomes: Outcomes): Held {
  return {
    jobs: [...places.flatMap(({ jobs }) => jobs), ...outcomes.jobs],
    queueIds: [...places.flatMap(({ queueIds }) => queueIds), ...outcomes.freedQueues],
  };
}
