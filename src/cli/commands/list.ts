// worker list: jobs by state and filters, a page at a time.
import { choice, defaulting, text, whole } from "../arguments/values.ts";
import { printJobs } from "../output/print.ts";
import { connected } from "../shell/connection.ts";
import { defineCommand } from "../shell/globals.ts";

const states = ["all", "ready", "scheduled", "locked", "failed"] as const;

export const listCommand = defineCommand({
  name: "list",
  describe: "List jobs",
  options: {
    state: defaulting(choice("Only jobs in this state", states), "all"),
    task: text("Only this task identifier", { aliases: ["--identifier"], field: "identifier" }),
    queue: text("Only this queue"),
    search: text("Id, key, task, queue, worker, or text of payload or error"),
    limit: defaulting(whole("Jobs on a page", 0, 500), 100),
    offset: whole("Jobs to pass over; --cursor costs less", 0, Number.MAX_SAFE_INTEGER),
    cursor: text("Continue where a list ended"),
  },
  run: async ({ task: identifier, state, queue, search, limit, offset, cursor, ...args }) => {
    const { listJobs } = await import("../../queue/pages/list-jobs.ts");
    const filter = { state, identifier, queue, search, limit, offset, cursor };
    const page = await connected(args, ({ database }) => listJobs(database, filter));
    printJobs(page.jobs, args.json, page.nextCursor);
    return undefined;
  },
});
