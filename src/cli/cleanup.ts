// worker cleanup: the three housekeeping tasks.
import type { Command } from "./command.ts";
import type { GlobalArguments } from "./connection.ts";

const tasks = ["delete-permanently-failed-jobs", "gc-task-identifiers", "gc-job-queues"] as const;

interface CleanupArguments extends GlobalArguments {
  task: (typeof tasks)[number][] | undefined;
}

export const cleanupCommand: Command<CleanupArguments> = {
  command: "cleanup",
  describe: "Delete failed jobs, unused task identifiers and unused queues",
  builder: (yargs) =>
    yargs.option("task", {
      array: true,
      choices: tasks,
      requiresArg: true,
      describe: "Only this one (repeatable) [default: all three]",
    }),
  handler: async (args) => {
    const { withUtils } = await import("./connection.ts");
    const { print } = await import("./output.ts");
    const done = await withUtils(args, (utils) => utils.cleanup(args.task));
    if (args.json) return print(JSON.stringify(done));
    if (done.deletedJobs !== null) print(`Deleted ${done.deletedJobs} failed jobs`);
    if (done.deletedTaskIdentifiers !== null) {
      print(`Deleted ${done.deletedTaskIdentifiers} unused task identifiers`);
    }
    if (done.deletedQueues !== null) print(`Deleted ${done.deletedQueues} unused queues`);
  },
};
