// Combines addJob() calls that are made at about the same time into shared inserts. PostgreSQL commits only one
// transaction with a NOTIFY at a time, so many small inserts would wait for each other.

import { setImmediate } from "../../base/clock.ts";
import { messageOf, WorkerError } from "../../base/errors.ts";
import type { Database } from "../../database/database.ts";
import { isRefusedResult } from "../../database/errors/database-errors.ts";
import type { Job } from "../../domain/job.ts";
import { type JobToAdd, type ResolvedJob, resolveJob } from "../../domain/job-spec.ts";
import { addResolved } from "./add-job.ts";
import { insertJobs } from "./insert-jobs.ts";

interface WaitingAdd {
  readonly spec: ResolvedJob;
  resolve(job: Job): void;
  reject(error: unknown): void;
}

const MAX_INSERTS = 2;
const MAX_BATCH = 1_000;
const MAX_CHARACTERS = 16_000_000;

/** Returns an addJob() whose concurrent calls share inserts. A call for a job with a `throttle` gets a ThrottledAdd. */
export function coalescedAdd(db: Database): (job: JobToAdd) => Promise<Job> {
  const waiting: WaitingAdd[] = [];
  let inserts = 0;

  const insertWaiting = async (): Promise<void> => {
    while (waiting.length > 0) {
      await insert(db, waiting.splice(0, batchSize(waiting)));
    }
    inserts--;
  };

  return async (job) => {
    // The payload is serialised now, because the object may change before the insert.
    const spec = resolveJob(job);
    // A job with a key or a throttle is added at once, because its result depends on the order of the calls.
    if (spec.jobKey !== null || spec.throttle !== null)
      return addResolved(db, spec) as Promise<Job>;
    return new Promise((resolve, reject) => {
      waiting.push({ spec, resolve, reject });
      // The insert waits for the next turn of the event loop, so that all calls of this turn share the insert.
      if (inserts === MAX_INSERTS || waiting.length > 1) return;
      inserts++;
      setImmediate(() => void insertWaiting());
    });
  };
}

function batchSize(waiting: readonly WaitingAdd[]): number {
  let characters = 0;
  for (const [count, { spec }] of waiting.entries()) {
    characters += spec.payload.length;
    if (count === MAX_BATCH || (count > 0 && characters > MAX_CHARACTERS)) return count;
  }
  return waiting.length;
}

/** If the database refuses the batch, inserts each half of it separately. */
async function insert(db: Database, batch: readonly WaitingAdd[]): Promise<void> {
  try {
    const specs = batch.map(({ spec }) => spec);
    const jobs = await insertJobs(db, specs);
    for (const [index, { resolve }] of batch.entries()) resolve(jobs[index] as Job);
  } catch (error) {
    if (batch.length > 1 && isRefusedResult(error)) {
      const half = Math.ceil(batch.length / 2);
      await insert(db, batch.slice(0, half));
      await insert(db, batch.slice(half));
    } else {
      for (const { reject } of batch) reject(errorCopy(error));
    }
  }
}

/** Each call of a batch needs its own error, because bound-operations.ts gives the error the stack of the call. */
function errorCopy(error: unknown): Error {
  if (!(error instanceof WorkerError)) return new Error(messageOf(error), { cause: error });
  return new WorkerError(error.code, error.message, { cause: error.cause ?? error });
}
