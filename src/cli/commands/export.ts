// worker export: writes all jobs that match a query as JSON Lines or CSV. If the export is stopped or fails with a
// WorkerError after at least one whole line, the message has the --cursor with which another export can continue.
import { monotonic } from "../../base/clock.ts";
import { InputError, type Problem, WorkerError } from "../../base/errors.ts";
import { countText, numberText } from "../../domain/words.ts";
import type { Export } from "../../insight/export/export-jobs.ts";
import { queryOfWords } from "../arguments/query-words.ts";
import { choice, flag, several, text, withDefault } from "../arguments/values.ts";
import { type ExportOutput, exportOutput } from "../output/export-output.ts";
import {
  print,
  printFailure,
  printFailureJson,
  printJson,
  printProgress,
} from "../output/print.ts";
import { withConnection } from "../shell/connection.ts";
import { defineCommand } from "../shell/globals.ts";
import { StoppedError, stopSignal } from "../shell/signals.ts";

export const exportCommand = defineCommand({
  name: "export",
  describe: "Write all jobs that match a query as JSON Lines or CSV",
  positionals: {
    query: {
      ...several(text("Job ids or one query; without an argument, all jobs", { form: "query" })),
      optional: true,
    },
  },
  options: {
    format: withDefault(choice("Output format", ["jsonl", "csv"]), "jsonl"),
    columns: text("Only these columns, in this order, comma-separated", { form: "names" }),
    payload: flag("Include payloads (unless --columns is given)"),
    output: withDefault(text("Output file; - is standard output", { form: "file" }), "-"),
    cursor: text(
      "Continue an interrupted export from this cursor, appending to the file if it exists",
      {
        form: "place",
      },
    ),
  },
  notes: "Put -- before a query that begins with -. docs/queries.md describes the query language.",
  run: async ({ query, format, columns, payload, output, cursor, ...args }) => {
    const { exportJobs } = await import("../../insight/export/export-jobs.ts");
    const { exportRequest } = await import("../../insight/export/export-request.ts");
    const { boundedQueryable } = await import("../../database/connection/pool.ts");
    const request = exportRequest({
      ...{ q: queryOfWords(query), format, columns, withPayload: payload, cursor },
    });
    const { lines, unchecked, unknown } = await withConnection(args, async ({ database, pool }) => {
      const signal = stopSignal();
      const scope = { signal, leftMs: () => Number.POSITIVE_INFINITY };
      const within = (statementTimeoutMs: number) => ({
        ...database,
        client: boundedQueryable(pool, { ...READ_ONLY, statementTimeoutMs }, scope),
      });
      const databases = { steps: within(STEP_MS), large: within(LARGE_MS) };
      const begun = await exportJobs(databases, request).catch((error) => {
        throw signal.aborted ? new StoppedError(signal, `stopped after ${jobs(0)}`) : error;
      });
      const out = await exportOutput(output, cursor !== undefined);
      const progress = output !== "-" || !process.stdout.isTTY ? printProgress : noProgress;
      return { ...(await writeExport(begun, out, progress, signal)), unknown: begun.unknown };
    });
    const notes = leftOut(unchecked, unknown);
    if (!args.json) for (const line of notes) printFailure(`worker: ${line}`);
    // With --json and --output, the object printed below has the same information, in `unchecked` and `unknown`.
    else if (output === "-") for (const warning of notes) printFailureJson({ warning });
    if (output === "-") return undefined;
    if (args.json) printJson(JSON.stringify({ exported: lines, unchecked, unknown, output }));
    else print(`Exported ${jobs(lines)} to ${output}`);
    return undefined;
  },
});

const READ_ONLY = { lockTimeoutMs: 10_000, readOnly: true, isPlain: true } as const;
/**
 * The time limits of a statement. They are short because the snapshot of a running statement holds back vacuum. Only
 * statements that decompress one large payload have LARGE_MS.
 */
const STEP_MS = 1_000;
const LARGE_MS = 60_000;

async function writeExport(
  begun: Export,
  output: ExportOutput,
  showProgress: typeof printProgress,
  signal: AbortSignal,
) {
  const began = monotonic();
  try {
    await using out = output;
    for await (const piece of begun.pieces(signal)) {
      await out.write(piece, signal);
      const { lines } = begun.progress();
      const perSecond = Math.round(lines / (Math.max(monotonic() - began, 1) / 1_000));
      showProgress(`${jobs(lines)}, ${numberText(perSecond)} a second`);
    }
  } catch (error) {
    if (!signal.aborted) throw interrupted(error, continuation(begun));
  } finally {
    showProgress(null);
  }
  if (signal.aborted) throw new StoppedError(signal, `stopped ${continuation(begun)}`);
  return begun.progress();
}

/** Returns notes on why jobs may be missing from the output. They do not change the exit status. */
function leftOut(unchecked: number, unknown: readonly string[]): string[] {
  return [
    ...(unknown.length === 0 ? [] : [`no such name: ${unknown.join(", ")}`]),
    ...(unchecked === 0 ? [] : [`${jobs(unchecked)} left out: too large, or too slow to read`]),
  ];
}

/** Used if the exported lines are printed on a terminal, because the progress would mix with them. */
const noProgress: typeof printProgress = () => {};

/**
 * Returns a WorkerError with `progress`, a text of continuation(), added to its message; any other error unchanged.
 */
function interrupted(error: unknown, progress: string): unknown {
  if (error instanceof InputError) {
    const withProgress = (problem: Problem) => ({
      ...problem,
      message: `${problem.message}; export interrupted ${progress}`,
    });
    return new InputError(error.problems.map(withProgress), error.code);
  }
  if (!(error instanceof WorkerError)) return error;
  return new WorkerError(error.code, `${error.message}; export interrupted ${progress}`, {
    cause: error,
  });
}

function continuation(begun: Export): string {
  const { lines, cursor, isInLine } = begun.progress();
  const cut = isInLine ? " and an incomplete line, which has to be removed" : "";
  const place = cursor === null ? "" : `; continue the export with --cursor ${cursor}`;
  return `after ${jobs(lines)}${cut}${place}`;
}

const jobs = (count: number) => countText(count, "job");
