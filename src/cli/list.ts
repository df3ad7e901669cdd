// worker list: jobs by state and filters, a page at a time.
import type { Command } from "./command.ts";
import type { GlobalArguments } from "./connection.ts";

interface ListArguments extends GlobalArguments {
  state: "all" | "ready" | "scheduled" | "locked" | "failed";
  task: string | undefined;
  queue: string | undefined;
  search: string | undefined;
  limit: number;
  cursor: string | undefined;
}

export const listCommand: Command<ListArguments> = {
  command: "list",
  describe: "List jobs",
  builder: (yargs) =>
    yargs.options({
      state: {
        choices: ["all", "ready", "scheduled", "locked", "failed"] as const,
        default: "all" as const,
        describe: "Only jobs in this state",
      },
      task: { type: "string", requiresArg: true, describe: "Only this task identifier" },
      queue: { type: "string", requiresArg: true, describe: "Only this queue" },
      search: { type: "string", requiresArg: true, describe: "Id, key, task, queue or text" },
      limit: { type: "number", requiresArg: true, default: 100, describe: "At most 500" },
      cursor: { type: "string", requiresArg: true, describe: "Continue where a list ended" },
    }),
  handler: async (args) => {
    const { withUtils } = await import("./connection.ts");
    const { printJobs } = await import("./output.ts");
    const page = await withUtils(args, (utils) =>
      utils.listJobs({
        state: args.state,
        identifier: args.task,
        queue: args.queue,
        search: args.search,
        limit: args.limit,
        cursor: args.cursor,
      }),
    );
    printJobs(page.jobs, args.json, page.nextCursor);
  },
};
