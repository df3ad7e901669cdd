// What an add with `throttle` returns.
import type { Job } from "../job.ts";

/**
 * The result of an add with `throttle`. If `isThrottled` is true, the job was dropped, because an equal job was added
 * within the period. `until`: the end of the period, by the database's clock.
 */
export type ThrottledAdd =
  | {
      readonly isThrottled: false;
      /** The end of the period, by the database's clock. Until then equal jobs are dropped. */
      readonly until: Date;
      /** The added job. */
      readonly job: Job;
    }
  | {
      /** The job was dropped, because an equal job was added within the period. */
      readonly isThrottled: true;
      /** The end of the period, by the database's clock. From then on an equal job can be added. */
      readonly until: Date;
      readonly job: null;
    };
