// The page of jobs that the library returns.
import type { Job } from "../../domain/job.ts";

/** A page of jobs. */
export interface JobPage {
  /** The jobs of the page, in the filter's order. */
  readonly jobs: Job[];
  /** The cursor of the next page, to be passed as the filter's `cursor`; null if nothing is left to search. */
  readonly nextCursor: string | null;
  /** The jobs that are too large to be returned in full. `jobs` has these jobs without payload. */
  readonly truncated: readonly {
    /** The job's id. */
    readonly id: string;
    /** The payload's stored size, perhaps compressed, in bytes. */
    readonly payloadBytes: number;
    /** True when `lastError` is truncated, too. */
    readonly isErrorTruncated: boolean;
  }[];
  /** How the jobs were found. */
  readonly report: {
    /** `cheap`: an index was used. `bounded`: jobs were scanned, in bounded steps. */
    readonly cost: "cheap" | "bounded";
    /** The number of rows scanned. */
    readonly scanned: number;
    /** The id of the last scanned job; null if the search has ended or does not read jobs in the order of their ids. */
    readonly scannedTo: string | null;
    /**
     * False if the search reached its time limit before the page was full, or before the order of the page's jobs was
     * final. `nextCursor` then continues the search.
     */
    readonly isComplete: boolean;
    /**
     * `full`: the order is final. `partial`: only the jobs found so far are ordered. With `nextCursor`, the search
     * continues and returns this page again, perhaps with jobs that come earlier in the order, until the ranking is
     * `full`.
     */
    readonly ranking: "full" | "partial";
    /** The terms of the query, such as `task:mail`, whose task, named queue or error group does not exist. */
    readonly unknownNames: readonly string[];
    /** The name of a missing optional index that would make the order, or a term of the query, cheap; null: no hint. */
    readonly indexHint: string | null;
    /** The number of jobs left out, because they are too large to check or their check took too long. */
    readonly unchecked: number;
  };
}
