// The library's public names. Nothing else re-exports.
export type { AuthOptions } from "./admin/auth-options.ts";
export {
  type AdminServerConfig,
  type AdminServerConfigBuilder,
  adminServerConfig,
} from "./admin/config.ts";
export { type AdminServer, serve } from "./admin/server.ts";
export { type ErrorCode, InputError, type Problem, WorkerError } from "./base/errors.ts";
export type { Logger } from "./base/logger.ts";
export { VERSION } from "./base/version.ts";
export type { Queryable } from "./database/database.ts";
export { type MigrationOptions, migrate } from "./database/migrate.ts";
export { type SchemaName, schemaName } from "./database/schema-name.ts";
export type { Job, JobState } from "./domain/job.ts";
export type { JobKeyMode, JobSpec, JobToAdd } from "./domain/job-spec.ts";
export { RawJson, rawJson } from "./domain/payload.ts";
export {
  makeWorkerUtils,
  type WorkerUtils,
  type WorkerUtilsOptions,
} from "./queue/worker-utils.ts";
