// worker count: prints how many jobs match a query, and how many other jobs could not be checked, because they
// are too large or their reading took too long.
import { queryOfWords } from "../arguments/query-words.ts";
import { several, text } from "../arguments/values.ts";
import { print, printJson, printProgress } from "../output/print.ts";
import { withConnection } from "../shell/connection.ts";
import { defineCommand } from "../shell/globals.ts";

export const countCommand = defineCommand({
  name: "count",
  describe: "Count the jobs that match a query, exactly",
  positionals: {
    query: {
      ...several(text("Job ids or one query; without an argument, all jobs", { form: "query" })),
      optional: true,
    },
  },
  notes: "Put -- before a query that begins with -. docs/queries.md describes the query language.",
  run: async ({ query, ...args }) => {
    const { compileQuery } = await import("../../insight/query/compile-query.ts");
    const { beginCount, countOn, isDone } = await import("../../insight/stats/count-exactly.ts");
    const reached = await withConnection(args, async ({ database }) => {
      const compiled = await compileQuery(database, queryOfWords(query));
      let progress = await beginCount(database);
      while (!compiled.isEmpty && !isDone(progress)) {
        progress = await countOn(database, compiled, progress, true);
        printProgress(
          `at least ${progress.count}, up to id ${progress.afterId} of ${progress.lastId}`,
        );
      }
      printProgress(null);
      return { ...progress, unknown: compiled.unknown };
    });
    const { count, undecided, unknown } = reached;
    if (args.json) printJson(JSON.stringify({ count, undecided, unknown }));
    else {
      print(String(count));
      if (undecided > 0) print(`and ${undecided} not checked: too large, or too slow to read`);
      if (unknown.length > 0) print(`no such name: ${unknown.join(", ")}`);
    }
    return undefined;
  },
});
