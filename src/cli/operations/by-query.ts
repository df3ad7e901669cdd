// A command on all jobs that match a query: rehearsed, shown, confirmed by a person, done.
import { InputError, type Problem } from "../../base/errors.ts";
import { assertTakesWrites } from "../../database/inspect/read-only-server.ts";
import type { Manner, OperationAction } from "../../queue/operations/model/action.ts";
import { commandLineOf } from "../../queue/operations/model/command-line.ts";
import type { JobOperation } from "../../queue/operations/model/operation.ts";
import { rehearse } from "../../queue/operations/rehearse/rehearse.ts";
import { rehearsalJson } from "../../queue/operations/rehearse/report-json.ts";
import { beginOperation, mannerProblems } from "../../queue/operations/verbs.ts";
import type { ExitStatus } from "../arguments/command.ts";
import { print, printJson } from "../output/print.ts";
import { confirm } from "../shell/confirm.ts";
import type { Connected } from "../shell/connection.ts";
import { jobsOf, rehearsalLines } from "./operation-text.ts";
import { operationTools } from "./operation-tools.ts";
import { runInForeground, showProgress } from "./run-operation.ts";
import { trailOf, typedBy } from "./typed-by.ts";

export interface Asked extends Manner {
  readonly action: OperationAction;
  readonly query: string;
  readonly changes: Readonly<Record<string, unknown>>;
  readonly isDryRun: boolean;
  /** Without a question. */
  readonly isSure: boolean;
  readonly json: boolean;
}

export async function operateByQuery(connection: Connected, asked: Asked): Promise<ExitStatus> {
  const { action, json, rate, canary, limit } = asked;
  const problems: Problem[] = mannerProblems(action, asked);
  if (asked.query.trim() === "") problems.push({ path: "q", message: EVERY });
  if (problems.length > 0) throw new InputError(problems);
  const tools = await operationTools(connection, showProgress);
  if (!asked.isDryRun) await assertTakesWrites(tools.reads);
  const { isResumable } = tools.store;
  const report = await rehearse(tools, {
    ...asked,
    isKept: !asked.isDryRun,
    walkMs: LONGEST_WALK_MS,
  });
  const { rehearsal, change } = report;
  if (!json) for (const line of rehearsalLines(report, isResumable)) print(line);
  if (asked.isDryRun) {
    const cli = commandLineOf(action, rehearsal.query, rehearsal.changes, { rate, canary, limit });
    if (json) printJson(rehearsalJson(report, isResumable, cli));
    else print(`This was a rehearsal; to do it: ${cli}`);
    return 0;
  }
  if (!asked.isSure) await confirm(`${action} ${jobsOf(change)}. Go on?`);
  const { by, source } = typedBy();
  const manner = { rate, canary, limit };
  const operation = await beginOperation(tools.store, rehearsal.id, { by, source }, manner);
  await recordTyped(connection, operation, action, `Began operation ${operation.id}`);
  return runInForeground(tools, operation, json);
}

// Who types a command waits for an exact number rather than for a rough one.
const LONGEST_WALK_MS = 5_000;

const EVERY = "is empty, which would mean every job; if that is meant, say id>0";

export async function recordTyped(
  connection: Connected,
  operation: JobOperation,
  action: string,
  message: string,
): Promise<void> {
  await trailOf(connection).record({
    ...typedBy(),
    ...{ action, message, query: operation.query, operationId: operation.id },
    ...{ changes: operation.changes, asked: operation.expected?.value ?? null, done: null },
    ...{ ids: null, key: null, workers: null, before: null, after: null },
  });
}
