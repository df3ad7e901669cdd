// Runs an operation in the foreground. On a terminal its progress is shown. Ctrl-C pauses the operation. At the end the
// result is printed.

import {
  cancellingCount,
  type JobOperation,
  operationJson,
  skippedJobs,
} from "../../commands/operations/model/operation.ts";
import type { OperationTools } from "../../commands/operations/model/operation-tools.ts";
import { workOn } from "../../commands/operations/work.ts";
import { readForeignColumns } from "../../database/inspect/foreign-columns.ts";
import type { ExitStatus } from "../arguments/command.ts";
import { print, printJson, printProgress } from "../output/print.ts";
import type { GlobalArguments } from "../shell/globals.ts";
import { stoppable } from "../shell/signals.ts";
import { outcomeLines, progressLine } from "./operation-text.ts";

export async function runInForeground(
  tools: OperationTools,
  operation: JobOperation,
  { json, suggest }: Pick<GlobalArguments, "json" | "suggest">,
): Promise<ExitStatus> {
  const ended = await stoppable((signal) => workOn(tools, operation, signal));
  printProgress(null);
  // `ended` may lack counts that the stored operation has.
  const whole = (await tools.store.find(ended.id).catch(() => null)) ?? ended;
  if (json) printJson(operationJson(whole));
  else {
    const foreign = await readForeignColumns(tools.reads);
    for (const line of outcomeLines(whole, suggest, foreign)) print(line);
  }
  return statusOf(whole);
}

/** Prints the progress if stderr is a terminal. Each call overwrites the line of the previous call. */
export function showProgress(operation: JobOperation): void {
  printProgress(`${progressLine(operation)} (Ctrl-C pauses it)`);
}

function statusOf(operation: JobOperation): ExitStatus {
  const { state, done, undone } = operation;
  if (state === "undone") return undone === done ? 0 : undone === 0 ? 1 : 3;
  if (state === "failed") return 1;
  if (state !== "done") return 3;
  if (skippedJobs(operation) === cancellingCount(operation)) return 0;
  return done === 0 ? 1 : 3;
}
