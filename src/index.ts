// The library's public names.
import "./require-node.ts";

export type { AuthConfig, AuthMode } from "./admin/access/auth-config.ts";
export type { AdminUser, Authenticate } from "./admin/access/own-login.ts";
export type { Secret } from "./admin/access/secret.ts";
export type { AuthOptions } from "./admin/config/auth-options.ts";
export type { AdminServerConfig } from "./admin/config/config.ts";
export { type AdminServerConfigBuilder, adminServerConfig } from "./admin/config/config-builder.ts";
export type { AdminLimits } from "./admin/config/limits.ts";
export { type AdminHandler, adminHandler } from "./admin/handler.ts";
export { serve } from "./admin/serve.ts";
export type { AdminServer } from "./admin/server.ts";
export { type ErrorCode, InputError, type Problem, WorkerError } from "./base/errors.ts";
export { createLogger, type Logger, type LoggerOptions, type TaskLogger } from "./base/logger.ts";
export type { Service } from "./base/service.ts";
export { VERSION } from "./base/version.ts";
export type { AuditEntry, JobFacts, OnAudit } from "./commands/audit/audit-entry.ts";
export type { CancelEnd } from "./commands/cancel/wait-for-cancelled.ts";
export type { CancelledJob, CancelOptions } from "./commands/jobs/cancel-jobs.ts";
export type { RemovedJob } from "./commands/jobs/remove-job.ts";
export type { JobChanges } from "./commands/jobs/reschedule-jobs.ts";
export type {
  CleanupOptions,
  CleanupResult,
  CleanupTask,
} from "./commands/maintenance/cleanup.ts";
export type { UnlockedCounts } from "./commands/maintenance/force-unlock-workers.ts";
export type {
  SweepOptions,
  SweepResult,
} from "./commands/maintenance/sweep-stale-workers.ts";
export type { PauseOptions, PauseResult } from "./commands/pauses/pause-options.ts";
export type { ResumeResult } from "./commands/pauses/set-pause.ts";
export type { Database, Queryable, StatementClient } from "./database/database.ts";
export type { MigrationOutcome } from "./database/schema/build-schema.ts";
export { type MigrationOptions, migrate } from "./database/schema/migrate.ts";
export { type SchemaName, schemaName } from "./database/schema-name.ts";
export {
  type CronArguments,
  type CronEntry,
  type CronEntryOptions,
  type CronPayload,
  type CronTask,
  cronEntry,
  everyMinute,
  everyMinutes,
} from "./domain/cron/cron-entry.ts";
export {
  type CronInterval,
  type CronPattern,
  type CronPatternOptions,
  daily,
  every,
} from "./domain/cron/cron-pattern.ts";
export type { CronStamp, JsonObject } from "./domain/cron/cron-payload.ts";
export { parseCrontab } from "./domain/cron/crontab.ts";
export type {
  ScheduleArguments,
  ScheduleChanges,
  ScheduleOptions,
  ScheduleOverlap,
} from "./domain/cron/schedule.ts";
export type { Job, JobState } from "./domain/job.ts";
export type { AnyJob, JobKeyMode, JobSpec, JobToAdd, ThrottledSpec } from "./domain/job-spec.ts";
export type { LimitOptions, Rate } from "./domain/limits/limit.ts";
export type { Throttle } from "./domain/limits/throttle.ts";
export type { ThrottledAdd } from "./domain/limits/throttled-job.ts";
export { RawJson, rawJson } from "./domain/payload.ts";
export type {
  AddJob,
  AddJobs,
  CopyJobs,
  JobArguments,
  JobOfTask,
  PayloadIsMissing,
  TaskLike,
} from "./domain/typed-job.ts";
export type { Debounce, Unique, UniqueWhile } from "./domain/unique.ts";
export type { Certificate, CertificateFiles } from "./http/listen/certificate.ts";
export type {
  BoundAddress,
  DescriptorTarget,
  ListenTarget,
  TcpTarget,
  UnixTarget,
} from "./http/listen/listen-target.ts";
export type { Acknowledgement } from "./insight/controls/acknowledgement.ts";
export type { Pause } from "./insight/controls/list-pauses.ts";
export type { JobFilter } from "./insight/pages/job-filter.ts";
export type { JobPage } from "./insight/pages/job-page.ts";
export type { JobCounts } from "./insight/read/count-jobs.ts";
export type { ActiveWorker } from "./insight/read/list-active-workers.ts";
export type { LockedWorker } from "./insight/read/list-locked-workers.ts";
export type { QueueSummary } from "./insight/read/list-queues.ts";
export type { JobSort } from "./insight/walk/order.ts";
export type { PauseScope } from "./queue/pauses/pause.ts";
export type { NextAttempt } from "./queue/settle/fail.ts";
export type { Limit, LimitOperations } from "./utils/limit-operations.ts";
export type {
  ExpectedRevision,
  Schedule,
  ScheduleOperations,
  SchedulePage,
  SchedulePageOptions,
} from "./utils/schedule-operations.ts";
export type { WorkerUtilsOptions } from "./utils/utils-options.ts";
export {
  makeWorkerUtils,
  type WorkerUtils,
} from "./utils/worker-utils.ts";
export type { JobIgnoringSignal } from "./worker/execute/job-context.ts";
export type { AddedJob, FileJob, GraphileJob } from "./worker/files/graphile-job.ts";
export type { FileLogger } from "./worker/files/graphile-logger.ts";
export type { JobHelpers } from "./worker/files/job-helpers.ts";
export { type LoadTasksOptions, loadTasks } from "./worker/files/load-tasks.ts";
export type {
  Program,
  ProgramOptions,
  ProgramResult,
  RunProgram,
} from "./worker/files/run-program.ts";
export type { CronOptions } from "./worker/options/cron-options.ts";
export type { LocalQueueOptions } from "./worker/options/local-queue-options.ts";
export type { RecoveryOptions } from "./worker/options/recovery-options.ts";
export type { MigrateOption, WorkerOptions } from "./worker/options/worker-options.ts";
export { type DrainResult, type RunOptions, run, runOnce } from "./worker/run.ts";
export type {
  Hooks,
  InterceptorResult,
  JobResult,
  LocalQueueMode,
  Observer,
  Plugin,
  ScheduleVerdict,
  Verdict,
  WorkerEvents,
  WorkerInterceptors,
} from "./worker/task/hooks.ts";
export {
  type BackOffTarget,
  JobCancelled,
  PermanentFailure,
  RetryAfter,
  type RetryResponse,
  Snooze,
} from "./worker/task/outcomes.ts";
export {
  type ExponentialOptions,
  exponential,
  fixed,
  type RetryPolicies,
  type RetryPolicy,
} from "./worker/task/retry.ts";
export {
  type BatchHandler,
  type BatchResults,
  defineBatchTask,
  defineTask,
  type Task,
  type TaskHandler,
  type TaskOptions,
} from "./worker/task/task.ts";
export type { TaskContext } from "./worker/task/task-context.ts";
export type { TaskJob } from "./worker/task/task-job.ts";
export {
  defineTransactionalTask,
  type TransactionalHandler,
} from "./worker/task/transactional-task.ts";
export {
  type InlineOptions,
  type InlineResult,
  runJobInline,
  waitForJob,
} from "./worker/testing.ts";
export { Worker } from "./worker/worker.ts";
