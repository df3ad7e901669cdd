// A page of jobs, as the library returns it.
import type { Job } from "../../domain/job.ts";

/** A page of jobs. */
export interface JobPage {
  /** The jobs of the page, in the filter's order. */
  readonly jobs: Job[];
  /** The cursor of the next page, for the filter's `cursor`; null at the end. */
  readonly nextCursor: string | null;
  /** The jobs on the page whose payload is too large for it. Their payload is null. */
  readonly truncated: readonly {
    /** The job's id. */
    readonly id: string;
    /** The payload's size as it is stored, perhaps compressed, in bytes. */
    readonly payloadBytes: number;
    /** True when `lastError` is truncated, too. */
    readonly isErrorTruncated: boolean;
  }[];
  /** How the jobs were found. */
  readonly report: {
    /** The cost of the search. `cheap`: an index was used. `bounded`: jobs were scanned, in bounded steps. */
    readonly cost: "cheap" | "bounded";
    /** The number of rows scanned. */
    readonly scanned: number;
    /** The last id scanned by an unfinished search that reads jobs in the order of ids; otherwise null. */
    readonly scannedTo: string | null;
    /** False if the time was up before the page was full and its order final. `nextCursor` continues the search. */
    readonly isComplete: boolean;
    /**
     * `full`: the order is final. `partial`: the jobs are the first of those found so far. `nextCursor` continues the
     * search and returns the same page again, perhaps with jobs that come earlier, until the ranking is `full`.
     */
    readonly ranking: "full" | "partial";
    /**
     * The terms of the query on a task or named queue that does not exist, such as `task:mail`, or on an error group
     * that no job has.
     */
    readonly unknownNames: readonly string[];
    /** The name of the optional index that would make the search cheap; null without one. */
    readonly indexHint: string | null;
    /** The number of jobs too large to be compared with the query. */
    readonly unchecked: number;
  };
}
