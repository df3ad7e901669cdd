// All commands, in the order in which the help lists them. Each declaration in src/commands is a command, or an action
// of `worker schedule` or `worker limit`.

import type { Command } from "../../commands/declare/command.ts";
import { commands as declarations } from "../../commands/index.ts";
import { limitCommands } from "../../commands/limits/index.ts";
import { scheduleCommands } from "../../commands/schedules/index.ts";
import type { CliCommand } from "../arguments/command.ts";
import { jobCommand } from "../declared/job-command.ts";
import { limitCommand, limitsCommand } from "../declared/limit-command.ts";
import { scheduleCommand } from "../declared/schedule-command.ts";
import { runCommand } from "../run/run-command.ts";
import { addManyCommand } from "./adding/add-many.ts";
import { adminCommand } from "./admin.ts";
import { countCommand } from "./count.ts";
import { demoCommand } from "./demo.ts";
import { doctorCommand } from "./doctor/doctor.ts";
import { examples } from "./examples.ts";
import { exportCommand } from "./export.ts";
import { cronCommand } from "./insight/cron.ts";
import { pausedCommand } from "./insight/paused.ts";
import { tasksCommand } from "./insight/tasks.ts";
import { watchCommand } from "./insight/watch.ts";
import { whyCommand } from "./insight/why.ts";
import { listCommand } from "./list.ts";
import { operationsCommand } from "./operations.ts";
import { completionCommand } from "./program/completion.ts";
import { healthcheckCommand } from "./program/healthcheck.ts";
import { licensesCommand } from "./program/licenses.ts";
import { manCommand } from "./program/man.ts";
import { queuesCommand } from "./queues.ts";
import { showCommand } from "./show.ts";
import { statusCommand } from "./status.ts";
import { workersCommand } from "./workers.ts";

/** The declarations that are no commands, but actions of `worker schedule` or `worker limit`. */
const grouped: readonly Command[] = [...scheduleCommands, ...limitCommands];

const all: readonly CliCommand[] = [
  demoCommand,
  adminCommand,
  runCommand,
  statusCommand,
  watchCommand,
  listCommand,
  countCommand,
  exportCommand,
  showCommand,
  whyCommand,
  queuesCommand,
  pausedCommand,
  tasksCommand,
  workersCommand,
  cronCommand,
  scheduleCommand,
  limitsCommand,
  limitCommand,
  operationsCommand,
  addManyCommand,
  ...declarations.filter((one) => !grouped.includes(one)).map(jobCommand),
  doctorCommand,
  healthcheckCommand,
  licensesCommand,
  completionCommand(() => commands),
  manCommand(() => commands),
];

export const commands: readonly CliCommand[] = all.map((one) => ({
  ...one,
  examples: examples[one.name] ?? one.examples,
}));
