// Adds a job of a schedule when a user requests it. The schedule and its next tick stay as they are.
import type { Database } from "../../database/database.ts";
import { manualJob } from "../../domain/cron/schedule.ts";
import type { Job } from "../../domain/job.ts";
import type { JobToAdd } from "../../domain/job-spec.ts";
import { readSchedule } from "../../insight/read/list-schedules.ts";
import { addJob } from "../../queue/add/add-job.ts";
import { databaseTime } from "../../queue/cron/database-time.ts";

/** Returns the job to add: it is due now and has no key. Throws `not_found` and `extension_missing`. */
export async function jobOfSchedule(db: Database, identifier: string): Promise<JobToAdd> {
  const { definition } = await readSchedule(db, identifier);
  return manualJob(definition, await databaseTime(db));
}

export const runSchedule = async (db: Database, identifier: string): Promise<Job> =>
  addJob(db, await jobOfSchedule(db, identifier));
