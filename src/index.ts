// The library's public names. Nothing else re-exports.
export type { AuthOptions } from "./admin/auth-options.ts";
export {
  type AdminServerConfig,
  type AdminServerConfigBuilder,
  adminServerConfig,
} from "./admin/config.ts";
export { type AdminServer, serve } from "./admin/server.ts";
export { type ErrorCode, InputError, type Problem, WorkerError } from "./base/errors.ts";
export { createLogger, type Logger, type LoggerOptions } from "./base/logger.ts";
export { VERSION } from "./base/version.ts";
export type { Queryable } from "./database/database.ts";
export { type MigrationOptions, migrate } from "./database/migrate.ts";
export { type SchemaName, schemaName } from "./database/schema-name.ts";
export {
  type CronEntry,
  type CronEntryOptions,
  cronEntry,
  everyMinute,
  everyMinutes,
} from "./domain/cron-entry.ts";
export type { CronStamp } from "./domain/cron-payload.ts";
export { parseCrontab } from "./domain/crontab.ts";
export type { Job, JobState } from "./domain/job.ts";
export type { JobKeyMode, JobSpec, JobToAdd } from "./domain/job-spec.ts";
export { RawJson, rawJson } from "./domain/payload.ts";
export {
  makeWorkerUtils,
  type WorkerUtils,
  type WorkerUtilsOptions,
} from "./queue/worker-utils.ts";
export type { TaskJob } from "./worker/claimed-job.ts";
export type { CronOptions } from "./worker/cron-options.ts";
export type {
  Hooks,
  LocalQueueMode,
  Plugin,
  ScheduleVerdict,
  Verdict,
  WorkerEvents,
  WorkerInterceptors,
} from "./worker/hooks.ts";
export type { RecoveryOptions } from "./worker/recovery-options.ts";
export { type RunOptions, run, runOnce } from "./worker/run.ts";
export {
  type BatchHandler,
  type BatchResults,
  defineBatchTask,
  defineTask,
  type Task,
  type TaskHandler,
  type TaskOptions,
} from "./worker/task.ts";
export type { TaskContext } from "./worker/task-context.ts";
export {
  type DrainResult,
  drainQueue,
  type InlineOptions,
  type InlineResult,
  runJobInline,
  waitForJob,
} from "./worker/testing.ts";
export { Worker } from "./worker/worker.ts";
export type { LocalQueueOptions, WorkerOptions } from "./worker/worker-options.ts";
