// Adds jobs and reads their state, for the tests of recovery.

import type { JobSpec } from "../../src/domain/job-spec.ts";
import { addJob } from "../../src/queue/add/add-job.ts";
import type { TestQueue } from "../queue/queue-database.ts";

export interface JobState {
  readonly attempts: number;
  readonly max_attempts: number;
  readonly locked_by: string | null;
  readonly last_error: string | null;
  readonly is_available: boolean;
}

export function jobsOf(queue: TestQueue) {
  const job = async (id: string): Promise<JobState | undefined> => {
    const text = `select attempts, max_attempts, locked_by, last_error, is_available
      from worker._private_jobs where id = $1`;
    return (await queue.sql<JobState>(text, [id]))[0];
  };
  return {
    job,
    add: (identifier: string, payload: unknown = {}, spec: JobSpec = {}) =>
      addJob(queue.db, { identifier, payload, spec }),
    isGone: async (id: string) => (await job(id)) === undefined,
    workerIds: async () =>
      (await queue.sql<{ id: string }>("select id from worker._private_workers order by id")).map(
        ({ id }) => id,
      ),
  };
}
