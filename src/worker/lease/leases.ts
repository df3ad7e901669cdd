// Where the leases of sessions come from.

/** Implemented by recovery.ts. */
export interface Leases {
  begin(id: string): Promise<void>;
  /**
   * Ends a lease under which nothing runs any more. What it may hold all the same, such as jobs that a
   * restore has brought, is given back. Where that fails, the lease runs out, and others recover them.
   * Never rejects.
   */
  release(id: string, options: { readonly mayHold: boolean }): Promise<void>;
  /** Those of these jobs that are no longer locked under this id. */
  lostJobs(id: string, jobIds: readonly string[]): Promise<readonly string[]>;
}
