// The leases of sessions, as an interface that recovery.ts implements.

/** Creates and ends the leases of sessions. */
export interface Leases {
  begin(id: string): Promise<void>;
  /**
   * Ends a lease under which nothing runs. With `mayHold`, jobs may still be locked under the lease, for example after
   * the database was restored to an earlier state; such jobs are given back first. If a step fails, the lease expires
   * and other workers recover jobs that are still locked. Never rejects.
   */
  release(id: string, options: { readonly mayHold: boolean }): Promise<void>;
  /** Resolves to those of `jobIds` that are no longer locked under this id. */
  lostJobs(id: string, jobIds: readonly string[]): Promise<readonly string[]>;
}
