// What an add with `throttle` returns.
import type { Job } from "../job.ts";

/** The result of an add with `throttle`: of equal jobs, at most one is added in a period. */
export type ThrottledAdd =
  | {
      readonly isThrottled: false;
      /** The end of the period, by the database's clock: equal jobs are dropped until then. */
      readonly until: Date;
      /** The added job. */
      readonly job: Job;
    }
  | {
      /** The job was dropped: an equal one was added within the period. */
      readonly isThrottled: true;
      /** The time from which an equal job is added, by the database's clock. */
      readonly until: Date;
      readonly job: null;
    };
