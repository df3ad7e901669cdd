// The interface through which sessions begin and end their leases. recovery.ts implements it.

/** Begins and ends leases. `id`: the id of the session that has the lease, as in `locked_by`. */
export interface Leases {
  begin(id: string): Promise<void>;
  /**
   * Ends a lease under which no job runs. `mayHold`: whether jobs may still be locked under the lease, for example
   * after the database was restored to an earlier state. Such jobs are given back before the lease ends. If a step
   * fails, the lease expires, and other workers recover the jobs that are still locked. Never rejects.
   */
  release(id: string, options: { readonly mayHold: boolean }): Promise<void>;
  /** Resolves to those of `jobIds` whose jobs are no longer locked under `id`. */
  lostJobs(id: string, jobIds: readonly string[]): Promise<readonly string[]>;
}
