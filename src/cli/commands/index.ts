// All commands, in the order of the help: our own, and one for each declaration in queue/commands.
import { commands as declarations } from "../../queue/commands/index.ts";
import { jobCommand } from "../declared/job-command.ts";
import { adminCommand } from "./admin.ts";
import { countCommand } from "./count.ts";
import { demoCommand } from "./demo.ts";
import { exportCommand } from "./export.ts";
import { listCommand } from "./list.ts";
import { operationsCommand } from "./operations.ts";
import { queuesCommand } from "./queues.ts";
import { showCommand } from "./show.ts";
import { statusCommand } from "./status.ts";
import { workersCommand } from "./workers.ts";

export const commands = [
  demoCommand,
  adminCommand,
  statusCommand,
  listCommand,
  countCommand,
  exportCommand,
  showCommand,
  queuesCommand,
  workersCommand,
  operationsCommand,
  ...declarations.map(jobCommand),
];
