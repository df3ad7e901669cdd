// worker export: everything that matches a query, as JSON Lines or CSV. What breaks off says how it goes
// on: the last whole line is the place.
import { monotonic } from "../../base/clock.ts";
import { InputError, type Problem, WorkerError } from "../../base/errors.ts";
import { counted, grouped } from "../../domain/words.ts";
import type { Export } from "../../insight/export/export-jobs.ts";
import { queryOfWords } from "../arguments/query-words.ts";
import { choice, defaulting, flag, several, text } from "../arguments/values.ts";
import { type ExportOutput, exportOutput } from "../output/export-output.ts";
import { print, printFailure, printJson, printProgress } from "../output/print.ts";
import { connected } from "../shell/connection.ts";
import { defineCommand } from "../shell/globals.ts";
import { StoppedError, stopSignal } from "../shell/signals.ts";

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
    cursor: text(
      "Go on where an export broke off, as it said; at the end of the file, if there is one",
      {
        form: "place",
      },
    ),
  },
  notes: "A query that begins with - follows --. docs/queries.md tells all that a query can say.",
  run: async ({ query, format, columns, payload, output, cursor, ...args }) => {
    const { exportJobs } = await import("../../insight/export/export-jobs.ts");
    const { exportRequest } = await import("../../insight/export/export-request.ts");
    const { boundedQueryable } = await import("../../database/connection/pool.ts");
    const asked = exportRequest({
      ...{ q: queryOfWords(query), format, columns, withPayload: payload, cursor },
    });
    const signal = stopSignal();
    const { lines, unchecked, unknown } = await connected(args, async ({ database, pool }) => {
      const scope = { signal, leftMs: () => Number.POSITIVE_INFINITY };
      const within = (statementTimeoutMs: number) => ({
        ...database,
        client: boundedQueryable(pool, { ...READ_ONLY, statementTimeoutMs }, scope),
      });
      const databases = { steps: within(STEP_MS), large: within(LARGE_MS) };
      const begun = await exportJobs(databases, asked);
      const out = await exportOutput(output, cursor !== undefined);
      return { ...(await written(begun, out, signal)), unknown: begun.unknown };
    });
    if (!args.json) for (const line of leftOut(unchecked, unknown)) printFailure(`worker: ${line}`);
    if (output === "-") return undefined;
    if (args.json) printJson(JSON.stringify({ exported: lines, unchecked, output }));
    else print(`Exported ${jobs(lines)} to ${output}`);
    return undefined;
  },
});

const READ_ONLY = { lockTimeoutMs: 10_000, readOnly: true, isPlain: true } as const;
/** No statement holds an old snapshot for long; only unpacking one payload may take its time. */
const STEP_MS = 1_000;
const LARGE_MS = 60_000;

async function written(begun: Export, output: ExportOutput, signal: AbortSignal) {
  const began = monotonic();
  try {
    await using out = output;
    for await (const piece of begun.pieces(signal)) {
      await out.write(piece, signal);
      const { lines } = begun.progress();
      const perSecond = Math.round(lines / (Math.max(monotonic() - began, 1) / 1_000));
      printExportProgress(`${jobs(lines)}, ${grouped(perSecond)} a second`);
    }
  } catch (error) {
    if (!signal.aborted) throw brokenOff(error, goingOn(begun));
  } finally {
    printExportProgress(null);
  }
  if (signal.aborted) throw new StoppedError(signal, `stopped ${goingOn(begun)}`);
  return begun.progress();
}

/** What keeps jobs out that somebody may expect in it: beside the lines, and no failure. */
function leftOut(unchecked: number, unknown: readonly string[]): string[] {
  return [
    ...(unknown.length === 0 ? [] : [`nothing is called ${unknown.join(", ")}`]),
    ...(unchecked === 0
      ? []
      : [`${jobs(unchecked)} left out, whose texts are too large to be looked at`]),
  ];
}

/** Among the lines on the same terminal nobody could read it. */
function printExportProgress(line: string | null): void {
  if (!process.stdout.isTTY) printProgress(line);
}

/** The failure, and how to go on. */
function brokenOff(error: unknown, goesOn: string): unknown {
  if (error instanceof InputError) {
    const told = (problem: Problem) => ({
      ...problem,
      message: `${problem.message}; broke off ${goesOn}`,
    });
    return new InputError(error.problems.map(told), error.code);
  }
  if (!(error instanceof WorkerError)) return error;
  return new WorkerError(error.code, `${error.message}; broke off ${goesOn}`, { cause: error });
}

function goingOn(begun: Export): string {
  const { lines, cursor, isInLine } = begun.progress();
  const cut = isInLine ? " and a part of a line, which has to be removed" : "";
  const place = cursor === null ? "" : `; it goes on with --cursor ${cursor}`;
  return `after ${jobs(lines)}${cut}${place}`;
}

const jobs = (count: number) => counted(count, "job");
