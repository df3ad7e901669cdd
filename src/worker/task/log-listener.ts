// Writes log lines for the events of a worker, so that the code that emits an event does not log it. An outage is
// logged by base/outage.ts.
import { type Logger, silentLogger } from "../../base/logger.ts";
import type { Hooks, LeaseLoss } from "./hooks.ts";
import { JobCancelled } from "./outcomes.ts";
import type { TaskJob } from "./task-job.ts";

/** Registers the observers that write the log lines. For the silent logger, registers none. */
export function logEvents(hooks: Hooks, logger: Logger): void {
  if (logger === silentLogger) return;
  logWorker(hooks, logger);
  logJobs(hooks, logger);
  hooks.on("cron:scheduled", ({ timestamp, identifier, jobId, backfilled }) => {
    const fields = { cron: identifier, job_id: jobId, timestamp, backfilled };
    logger.info(fields, "a cron job was scheduled");
  });
}

const LEASE_LOSSES: Readonly<Record<LeaseLoss, string>> = {
  recovered: "the worker was frozen or disconnected for too long and lost its lease",
  removed: "the worker's heartbeat was removed",
  restored: "the worker's last heartbeat is not in the database, which was restored or failed over",
};

function logWorker(hooks: Hooks, logger: Logger): void {
  hooks.on("worker:start", ({ workerId }) => {
    logger.info({ worker_id: workerId }, "the worker has started");
  });
  hooks.on("worker:shutdown", ({ workerId, reason }) => {
    logger.info({ worker_id: workerId, reason }, "the worker stops");
  });
  hooks.on("worker:leaseLost", ({ workerId, newWorkerId, reason }) => {
    const fields = { worker_id: workerId, new_worker_id: newWorkerId };
    logger.warn(fields, `${LEASE_LOSSES[reason]}; the worker continues under a new id`);
  });
  hooks.on("worker:recovered", ({ workerId, staleWorkerIds, jobs }) => {
    const fields = { worker_id: workerId, stale_worker_ids: staleWorkerIds, jobs };
    logger.warn(fields, "recovered the jobs of stale workers");
  });
}

function logEachJob(hooks: Hooks, logger: Logger): void {
  hooks.on("job:start", ({ job }) => {
    logger.debug(fieldsOf(job), "a job starts");
  });
  hooks.on("job:skip", ({ job }) => {
    logger.debug(fieldsOf(job), "a job was skipped");
  });
  hooks.on("job:snooze", ({ job, delayMs }) => {
    logger.debug({ ...fieldsOf(job), delay_ms: roundToTenth(delayMs) }, "a job snoozed");
  });
  hooks.on("job:success", ({ job, durationMs }) => {
    logger.debug({ ...fieldsOf(job), duration_ms: roundToTenth(durationMs) }, "a job is done");
  });
}

function logJobs(hooks: Hooks, logger: Logger): void {
  // Each job that succeeds has two debug lines. Formatting lines that are not written would take a third of a worker's
  // time.
  if (logger.isLevelEnabled?.("debug") !== false) logEachJob(hooks, logger);
  hooks.on("job:error", ({ job, error, durationMs, willRetry }) => {
    if (!willRetry) return; // The event job:failed follows, which is logged below.
    const fields = {
      ...fieldsOf(job),
      duration_ms: roundToTenth(durationMs),
      error: error.message,
    };
    logger.warn(fields, "a job failed and will be retried");
  });
  hooks.on("job:failed", ({ job, error, durationMs }) => {
    const fields = {
      ...fieldsOf(job),
      duration_ms: roundToTenth(durationMs),
      error: error.message,
    };
    // The failure of a job that a user has cancelled is not logged as an error.
    if (error instanceof JobCancelled) logger.info(fields, "a cancelled job has failed");
    else logger.error(fields, "a job failed and will not be retried");
  });
  hooks.on("job:interrupted", ({ jobId, job, reason }) => {
    const fields = { job_id: jobId, task: job?.taskIdentifier, reason };
    const why = reason === "shutdown" ? "" : ": this worker lost the job's lock";
    logger.warn(fields, `a job was interrupted${why}`);
  });
}

function fieldsOf(job: TaskJob) {
  const { id, taskIdentifier, attempts, maxAttempts } = job;
  return { job_id: id, task: taskIdentifier, attempt: attempts, max_attempts: maxAttempts };
}

const roundToTenth = (ms: number) => Math.round(ms * 10) / 10;
