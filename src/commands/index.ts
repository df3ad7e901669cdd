// The list of all commands. A new command needs a file that declares it, a row here or in its folder's index.ts, and
// tests. Its HTTP route, command line and dialog on the page are derived from the declaration.
import type { Command } from "./declare/command.ts";
import type { JobActionData } from "./declare/job-action.ts";
import { buildIndexCommand } from "./indexes/build-index.ts";
import { cancelIndexCommand } from "./indexes/cancel-index.ts";
import { dropIndexCommand } from "./indexes/drop-index.ts";
import { addCommand } from "./jobs/add.ts";
import { cancelCommand } from "./jobs/cancel-jobs.ts";
import { completeCommand } from "./jobs/complete-jobs.ts";
import { failCommand } from "./jobs/permanently-fail-jobs.ts";
import { removeCommand } from "./jobs/remove-job.ts";
import { rescheduleCommand } from "./jobs/reschedule-jobs.ts";
import { retryCommand } from "./jobs/retry.ts";
import { runNowCommand } from "./jobs/run-now.ts";
import { stopRetryingCommand } from "./jobs/stop-retrying.ts";
import { limitCommands } from "./limits/index.ts";
import { addExtensionCommand } from "./maintenance/add-extension.ts";
import { cleanupCommand } from "./maintenance/cleanup.ts";
import { unlockCommand } from "./maintenance/force-unlock-workers.ts";
import { migrateCommand } from "./maintenance/migrate.ts";
import { sweepCommand } from "./maintenance/sweep.ts";
import { pauseCommand } from "./pauses/pause.ts";
import { resumeCommand } from "./pauses/resume.ts";
import { scheduleCommands } from "./schedules/index.ts";

/**
 * The commands in the order of `worker --help`. On the command line, the commands on schedules are actions of `worker
 * schedule`, and the commands on limits are actions of `worker limit`.
 */
const all = [
  addCommand,
  completeCommand,
  failCommand,
  retryCommand,
  runNowCommand,
  rescheduleCommand,
  removeCommand,
  stopRetryingCommand,
  cancelCommand,
  pauseCommand,
  resumeCommand,
  unlockCommand,
  sweepCommand,
  cleanupCommand,
  migrateCommand,
  addExtensionCommand,
  buildIndexCommand,
  cancelIndexCommand,
  dropIndexCommand,
  ...scheduleCommands,
  ...limitCommands,
] as const;

export const commands: readonly Command[] = all;

type JobActionCommand = Extract<(typeof all)[number], { readonly onJobs: JobActionData }>;

/** The bulk actions on jobs: the commands that act on jobs given by ids, or on all jobs that match a query. */
export const jobActions: readonly JobActionCommand[] = all.filter(
  (one): one is JobActionCommand => one.onJobs !== undefined,
);
