// Turns the addJob calls that a process makes at about the same time into one insert. Each NOTIFY
// takes a lock over all commits of the database, so many small inserts stand in line where one
// large one would not. A call waits only while the insert before it is under way: alone it goes
// out at once.
import { messageOf, WorkerError } from "../base/errors.ts";
import type { Database } from "../database/database.ts";
import type { Job } from "../domain/job.ts";
import { type JobToAdd, resolveJob } from "../domain/job-spec.ts";
import { addJob } from "./add-job.ts";
import { addJobs } from "./add-jobs.ts";

interface Waiting {
  readonly job: JobToAdd;
  resolve(job: Job): void;
  reject(error: unknown): void;
}

/** Inserts under way at once, and jobs in one of them. */
const MAX_INSERTS = 2;
const MAX_BATCH = 1_000;

/** Gives an addJob whose concurrent calls share inserts. */
export function coalescedAdd(db: Database): (job: JobToAdd) => Promise<Job> {
  let waiting: Waiting[] = [];
  let inserts = 0;

  const send = async (): Promise<void> => {
    inserts++;
    while (waiting.length > 0) {
      const batch = waiting.slice(0, MAX_BATCH);
      waiting = waiting.slice(MAX_BATCH);
      await insert(db, batch);
    }
    inserts--;
  };

  return async (job) => {
    // A key decides about one job at a time, and its caller may rely on the order of its calls.
    if (job.spec?.jobKey !== undefined) return addJob(db, job);
    // Refuse here what would otherwise spoil the batch for everybody in it.
    resolveJob(job);
    return new Promise((resolve, reject) => {
      waiting.push({ job, resolve, reject });
      // A turn later, so that calls of one turn share the first insert, too.
      if (inserts < MAX_INSERTS && waiting.length === 1) setImmediate(() => void send());
    });
  };
}

async function insert(db: Database, batch: readonly Waiting[]): Promise<void> {
  try {
    const jobs = await addJobs(
      db,
      batch.map(({ job }) => job),
    );
    for (const [index, { resolve, reject }] of batch.entries()) {
      const job = jobs[index];
      if (job === undefined) reject(new WorkerError("database_error", "a job was not added"));
      else resolve(job);
    }
  } catch (error) {
    for (const { reject } of batch) reject(individual(error));
  }
}

/** Each caller gets an error of its own, with its own stack. */
function individual(cause: unknown): Error {
  if (!(cause instanceof WorkerError)) return new Error(messageOf(cause), { cause });
  return new WorkerError(cause.code, cause.message, { cause });
}
