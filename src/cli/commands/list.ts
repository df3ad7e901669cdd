// worker list: lists jobs by query, state and other filters, one page at a time, in one of several orders.

import { countText } from "../../domain/words.ts";
import type { JobFilter } from "../../insight/pages/job-filter.ts";
import type { JobPage } from "../../insight/pages/job-page.ts";
import type { LightPage } from "../../insight/pages/list-jobs.ts";
import { queryOfWords } from "../arguments/query-words.ts";
import { choice, several, text, whole, withDefault } from "../arguments/values.ts";
import { printJobsJson, printLightJobs, printProgress } from "../output/print.ts";
import { withConnection } from "../shell/connection.ts";
import { defineCommand } from "../shell/globals.ts";

const states = ["all", "ready", "scheduled", "locked", "failed"] as const;
const sorts = [
  ...(["id", "-id", "due", "-due", "priority"] as const),
  ...(["-failed_at", "-updated_at", "-attempts", "running"] as const),
] as const;

export const listCommand = defineCommand({
  name: "list",
  describe: "List jobs",
  positionals: {
    query: {
      ...several(text("Job ids or one query, such as task:send is:failed", { form: "query" })),
      optional: true,
    },
  },
  options: {
    state: withDefault(
      choice(
        "Only jobs in this state, as the HTTP API names it; is:… in a query is more specific",
        states,
      ),
      "all",
    ),
    task: text("Only this task identifier", { aliases: ["--identifier"], field: "identifier" }),
    queue: text("Only this queue"),
    search: text("A job id, or text in key, task, queue, worker, payload or error"),
    sort: withDefault(choice("Sort order, such as --sort=-id", sorts), "id"),
    limit: withDefault(whole("Jobs per page", 0, 500), 100),
    offset: whole("Jobs to skip; --cursor is faster", 0, Number.MAX_SAFE_INTEGER),
    cursor: text("Cursor printed by the previous page"),
  },
  notes: "Put -- before a query that begins with -. docs/queries.md describes the query language.",
  run: async ({ query, task: identifier, state, queue, search, sort, limit, offset, ...args }) => {
    const { listJobs, listLightJobs } = await import("../../insight/pages/list-jobs.ts");
    const { cursor } = args;
    const q = queryOfWords(query);
    const filter = { q, state, identifier, queue, search, sort, limit, offset, cursor };
    await withConnection(args, async ({ database }) => {
      if (args.json) {
        const { jobs, nextCursor } = await wholePage(filter, (one) => listJobs(database, one));
        printJobsJson(jobs, nextCursor);
      } else {
        const { jobs, nextCursor } = await wholePage(filter, (one) => listLightJobs(database, one));
        printLightJobs(jobs, nextCursor);
      }
    });
    return undefined;
  },
});

/**
 * Returns a complete page of jobs. If a call of `list` reaches its time limit before the page is complete, the next
 * call continues the search.
 */
async function wholePage<P extends JobPage | LightPage>(
  filter: JobFilter & { readonly limit: number },
  list: (filter: JobFilter) => Promise<P>,
): Promise<Pick<P, "jobs" | "nextCursor">> {
  const jobs: P["jobs"][number][] = [];
  let cursor = filter.cursor;
  let scanned = 0;
  for (;;) {
    const page = await list({ ...filter, cursor, limit: filter.limit - jobs.length });
    const { ranking, isComplete } = page.report;
    if (ranking === "full") jobs.push(...page.jobs);
    if (page.nextCursor === null || (ranking === "full" && isComplete)) {
      printProgress(null);
      return { jobs: jobs as P["jobs"], nextCursor: page.nextCursor };
    }
    cursor = page.nextCursor;
    scanned += page.report.scanned;
    printProgress(`checked ${countText(scanned, "job")}, found ${jobs.length}`);
  }
}
