// worker export: everything that matches a query, as JSON Lines or CSV.
import { InputError, WorkerError } from "../../base/errors.ts";
import { queryOfWords } from "../arguments/query-words.ts";
import { choice, defaulting, flag, several, text } from "../arguments/values.ts";
import { exportOutput, print, printJson, printProgress } from "../output/print.ts";
import { connected } from "../shell/connection.ts";
import { defineCommand } from "../shell/globals.ts";
import { stopSignal } from "../shell/signals.ts";

export const exportCommand = defineCommand({
  name: "export",
  describe: "Write all jobs that match a query as JSON Lines or CSV",
  words: {
    query: {
      ...several(text("Ids of jobs, or one query; none: all jobs", { form: "query" })),
      optional: true,
    },
  },
  options: {
    format: defaulting(choice("What is written", ["jsonl", "csv"]), "jsonl"),
    columns: text("Only these columns, in this order, with commas", { form: "names" }),
    payload: flag("With payloads, where no columns are named"),
    output: defaulting(text("Where to; - is the standard output", { form: "file" }), "-"),
    cursor: text("Go on behind this id, where an export broke off", { form: "id" }),
  },
  notes: "A query that begins with - follows --. QUERIES.md tells all that a query can say.",
  run: async ({ query, format, columns, payload, output, cursor, ...args }) => {
    const { exportJobs } = await import("../../queue/export/export-jobs.ts");
    const { exportRequest } = await import("../../queue/export/export-request.ts");
    const asked = exportRequest({
      ...{ q: queryOfWords(query), format, columns, withPayload: payload, cursor },
    });
    const signal = stopSignal();
    const { lines, unchecked } = await connected(args, async ({ database }) => {
      const begun = await exportJobs({ steps: database, large: database }, asked);
      await using out = await exportOutput(output).catch((error: Error) => {
        throw new InputError([{ path: "output", message: `cannot be written: ${error.message}` }]);
      });
      for await (const piece of begun.pieces(signal)) {
        await out.write(piece, signal);
        printProgress(`${begun.lines()} jobs`);
      }
      printProgress(null);
      return { lines: begun.lines(), unchecked: begun.unchecked() };
    });
    if (signal.aborted) throw new WorkerError("aborted", `stopped after ${lines} jobs`);
    if (output === "-") return undefined;
    if (args.json) printJson(JSON.stringify({ exported: lines, unchecked, output }));
    else print(`Exported ${lines} ${lines === 1 ? "job" : "jobs"} to ${output}`);
    return undefined;
  },
});
