// POST /api/maintenance: migrate, cleanup, force-unlock, sweep-stale-workers.
import { InputError } from "../../base/errors.ts";
import { migrate } from "../../database/migrate.ts";
import { json } from "../../http/response.ts";
import { cleanup, cleanupTasks } from "../../queue/cleanup.ts";
import { forceUnlockWorkers } from "../../queue/force-unlock-workers.ts";
import { sweepStaleWorkers } from "../../queue/sweep-stale-workers.ts";
import type { Admin, Operation } from "../admin.ts";
import { record } from "../answers.ts";
import {
  boolean,
  duration,
  type Input,
  listOf,
  oneOf,
  optional,
  readInput,
  text,
} from "../wire.ts";

const body = {
  action: oneOf(["migrate", "cleanup", "force-unlock", "sweep-stale-workers"]),
  cleanup_tasks: optional(listOf(oneOf(cleanupTasks), 10)),
  worker_ids: optional(listOf(text(1, 1_024), 1_000)),
  dry_run: optional(boolean),
  sweep_threshold_secs: optional(duration),
  recovery_delay_secs: optional(duration),
};

type MaintenanceInput = Input<typeof body>;
type Outcome = { readonly message: string } & Readonly<Record<string, unknown>>;

export const maintain: Operation = {
  summary: "Migrates, cleans up, unlocks, or sweeps dead workers",
  body,
  answer: { ...record({ message: "string" }), additionalProperties: true },
  run: async (admin, request) => {
    const input = await readInput(request, body, admin.config.bodyLimit);
    request.notes["action"] = input.action;
    const outcome = await act(admin, input, request.closing);
    request.notes["outcome"] = outcome.message;
    return json(outcome);
  },
};

function act(admin: Admin, input: MaintenanceInput, closing: AbortSignal): Promise<Outcome> {
  // Who asks for a dry run must never get the real one.
  if (input.dry_run === true && input.action !== "sweep-stale-workers") {
    throw new InputError([{ path: "dry_run", message: "is only for sweep-stale-workers" }]);
  }
  switch (input.action) {
    case "migrate":
      return migrateSchema(admin, closing);
    case "cleanup":
      return cleanUp(admin, input);
    case "force-unlock":
      return forceUnlock(admin, input);
    case "sweep-stale-workers":
      return sweep(admin, input);
    default:
      return input.action satisfies never;
  }
}

/** Nobody waits for another migration once the client has gone or the server stops. */
async function migrateSchema({ config }: Admin, closing: AbortSignal): Promise<Outcome> {
  const { pool, schema, logger } = config;
  const options = { logger, signal: closing };
  const { kind, level, extensions, warnings } = await migrate(pool, schema, options);
  const done = {
    created: `Created the schema ${schema.name}`,
    adopted: `Brought the schema ${schema.name} up to date`,
    current: `The schema ${schema.name} is up to date`,
  };
  const message = [`${done[kind]} (level ${level})`, ...warnings].join("; ");
  return { message, outcome: kind, level, extensions, warnings };
}

async function cleanUp({ databases }: Admin, input: MaintenanceInput): Promise<Outcome> {
  const result = await cleanup(databases.maintenance, input.cleanup_tasks);
  const parts = [
    part(result.deletedJobs, "failed job", "failed jobs"),
    part(result.deletedTaskIdentifiers, "task identifier", "task identifiers"),
    part(result.deletedQueues, "queue", "queues"),
  ].filter((text) => text !== null);
  return {
    message:
      parts.length === 0
        ? "No cleanup task was given, so nothing was done"
        : `Deleted ${parts.join(", ")}`,
    deleted_jobs: result.deletedJobs,
    deleted_task_identifiers: result.deletedTaskIdentifiers,
    deleted_queues: result.deletedQueues,
  };
}

async function forceUnlock({ databases }: Admin, input: MaintenanceInput): Promise<Outcome> {
  const ids = input.worker_ids ?? [];
  if (ids.length === 0) {
    throw new InputError([{ path: "worker_ids", message: "must name at least one worker id" }]);
  }
  const { jobs, queues } = await forceUnlockWorkers(databases.maintenance, ids);
  const from = `${ids.length} ${ids.length === 1 ? "worker" : "workers"}`;
  return {
    message: `Unlocked ${part(jobs, "job", "jobs")} and ${part(queues, "queue", "queues")} of ${from}`,
    unlocked_jobs: jobs,
    unlocked_queues: queues,
  };
}

async function sweep({ databases }: Admin, input: MaintenanceInput): Promise<Outcome> {
  const result = await sweepStaleWorkers(databases.maintenance, {
    sweepThreshold_s: input.sweep_threshold_secs,
    recoveryDelay_s: input.recovery_delay_secs,
    dryRun: input.dry_run,
  });
  const dead = result.staleWorkers.length + result.orphanWorkers.length;
  const workers = part(dead, "dead worker", "dead workers");
  const silent = result.orphanWorkers.length;
  // Without heartbeats nobody can tell a dead stock worker from one that is busy.
  const doubt = silent === 0 ? "" : ` (${silent} of them never sent a heartbeat)`;
  const message = result.dryRun
    ? `Would sweep ${workers}${doubt} holding ${part(result.lockedJobs, "job", "jobs")}`
    : `Swept ${workers}${doubt}; ${part(result.recoveredJobs, "job", "jobs")} recovered`;
  return {
    message,
    dry_run: result.dryRun,
    stale_workers: result.staleWorkers,
    orphan_workers: result.orphanWorkers,
    locked_jobs: result.lockedJobs,
    recovered_jobs: result.recoveredJobs,
  };
}

function part(count: number | null, one: string, many: string): string | null {
  return count === null ? null : `${count} ${count === 1 ? one : many}`;
}
