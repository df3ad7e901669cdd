// Where the leases of sessions come from.

/** Implemented by recovery.ts. */
export interface Leases {
  begin(id: string): Promise<void>;
  release(id: string): Promise<void>;
  /** Those of these jobs that are no longer locked under this id. */
  lostJobs(id: string, jobIds: readonly string[]): Promise<readonly string[]>;
}
