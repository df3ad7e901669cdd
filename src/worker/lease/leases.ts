// The interface of the leases of sessions, implemented by recovery.ts.

/** Creates and ends the leases of sessions. */
export interface Leases {
  begin(id: string): Promise<void>;
  /**
   * Ends a lease under which nothing runs. `mayHold`: jobs may still be locked under it, for example after a
   * restore; they are returned. If that fails, the lease expires and other workers recover the jobs. Never rejects.
   */
  release(id: string, options: { readonly mayHold: boolean }): Promise<void>;
  /** Resolves to those of `jobIds` that are no longer locked under this id. */
  lostJobs(id: string, jobIds: readonly string[]): Promise<readonly string[]>;
}
