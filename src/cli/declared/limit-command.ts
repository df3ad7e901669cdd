// worker limit: the actions on limits that src/commands declares, the list of limits, and the details of one limit.
// worker limits: the same list.
import { limitCommands } from "../../commands/limits/index.ts";
import type { ExitStatus } from "../arguments/command.ts";
import { UsageError } from "../arguments/refusals.ts";
import { defineCommand, type GlobalArguments } from "../shell/globals.ts";
import { type GroupArguments, groupCommand } from "./group-command.ts";

const NOTES = `\
set creates a limit, or changes the given parts of an existing one and keeps its other parts.
--concurrency 0 removes the concurrency, and an empty --rate the rate. A limit of a task counts the
jobs of all matching tasks together; a limit of queues counts the jobs of each matching queue alone.

Limits need tables that "worker migrate --with limits" adds. Graphile workers do not
apply limits of tasks, and run no jobs of queues with a limit.`;

export const limitCommand = groupCommand({
  name: "limit",
  describe: "Set, show, remove and list limits: how many jobs run at once or start in a period",
  notes: NOTES,
  declarations: limitCommands,
  subject: { field: "name", describe: "Name of the limit" },
  lists: ["list", "show"],
  listOptions: {},
  list: (args, action) => (action === "show" ? show(args) : list(args)),
});

export const limitsCommand = defineCommand({
  name: "limits",
  describe: "List limits with their running and waiting jobs",
  examples: ["worker limits", "worker limits --json"],
  run: (args) => list(args),
});

async function list(args: GlobalArguments): Promise<ExitStatus> {
  const { printLimits } = await import("./print-limits.ts");
  return printLimits(args);
}

async function show(args: GroupArguments): Promise<ExitStatus> {
  const name = args["name"];
  if (typeof name !== "string") {
    throw new UsageError("<name> is missing: the name of the limit", "limit");
  }
  const { printLimit } = await import("./print-limits.ts");
  return printLimit(args, name);
}
