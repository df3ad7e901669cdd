// Runs a command on all jobs that match a query: rehearses it, shows the rehearsal, asks for confirmation, performs it.

import { InputError, type Problem } from "../../base/errors.ts";
import { beginOperation, settingsProblems } from "../../commands/operations/lifecycle.ts";
import {
  missingFor,
  type OperationAction,
  type OperationSettings,
} from "../../commands/operations/model/action.ts";
import { commandLineOf } from "../../commands/operations/model/command-line.ts";
import type { JobOperation } from "../../commands/operations/model/operation.ts";
import { rehearse } from "../../commands/operations/rehearse/rehearse.ts";
import { rehearsalJson } from "../../commands/operations/rehearse/report-json.ts";
import { assertTakesWrites } from "../../database/inspect/read-only-server.ts";
import {
  extensionMissing,
  type MissingTables,
  missingTables,
  OPERATION_TABLES,
} from "../../database/schema/extensions/missing-tables.ts";
import { migrate } from "../../database/schema/migrate.ts";
import { parseQuery } from "../../domain/query/parse-query.ts";
import type { ExitStatus } from "../arguments/command.ts";
import { print, printJson } from "../output/print.ts";
import { confirm, isAtTerminal } from "../shell/confirm.ts";
import type { CommandConnection } from "../shell/connection.ts";
import type { SameQueue } from "../shell/same-queue.ts";
import { jobsOf, rehearsalLines } from "./operation-text.ts";
import { operationTools } from "./operation-tools.ts";
import { runInForeground, showProgress } from "./run-operation.ts";
import { trailOf, typedBy } from "./typed-by.ts";

export interface QueryCommand extends OperationSettings {
  readonly action: OperationAction;
  readonly query: string;
  readonly changes: Readonly<Record<string, unknown>>;
  readonly isDryRun: boolean;
  /** Skips the confirmation. */
  readonly isSure: boolean;
  /** Adds the tables that operations need, if they are missing, without a confirmation. */
  readonly withOperations: boolean;
  readonly json: boolean;
  readonly suggest: SameQueue;
}

export async function operateByQuery(
  connection: CommandConnection,
  request: QueryCommand,
): Promise<ExitStatus> {
  const { action, json, suggest, rate, canary, limit, isDryRun } = request;
  const problems: Problem[] = settingsProblems(action, request);
  if (request.query.trim() === "") problems.push({ path: "q", message: EMPTY_QUERY });
  if (problems.length > 0) throw new InputError(problems);
  parseQuery(request.query);
  const tools = operationTools(connection, showProgress);
  if (!isDryRun) await assertTakesWrites(tools.reads);
  const missingOfAction = await missingFor(tools.reads, action);
  if (missingOfAction !== null) throw extensionMissing(missingOfAction);
  let missing = await missingTables(tools.reads, OPERATION_TABLES);
  if (missing !== null && !isDryRun) {
    await addTables(connection, missing, request);
    missing = null;
  }
  const store = missing === null ? tools.store : null;
  const report = await rehearse(
    { ...tools, store },
    { ...request, isStored: !isDryRun, walkMs: MAX_WALK_MS },
  );
  const { rehearsal, change } = report;
  if (!json) for (const line of rehearsalLines(report, missing, suggest)) print(line);
  if (isDryRun) {
    const settings = { rate, canary, limit };
    const cli = suggest.line(commandLineOf(action, rehearsal.query, rehearsal.changes, settings));
    if (json)
      printJson(
        rehearsalJson(report, missing === null ? null : onSameQueue(missing, suggest), cli),
      );
    else print(`Nothing was changed. To run it: ${cli}`);
    return 0;
  }
  if (!request.isSure) await confirm(`${action} ${jobsOf(change)}. Continue?`);
  const { by, source } = typedBy();
  const settings = { rate, canary, limit };
  const operation = await beginOperation(tools.store, rehearsal.id, { by, source }, settings);
  await recordTyped(connection, operation, action, `Started operation ${operation.id}`);
  return runInForeground(tools, operation, request);
}

/**
 * Adds the missing tables: with --with-operations at once, otherwise after the user has confirmed this at a terminal.
 * Throws if the database role may not add the tables, or if the user does not confirm. Without --with-operations also
 * throws if there is no terminal or the output is JSON.
 */
async function addTables(
  connection: CommandConnection,
  missing: MissingTables,
  { withOperations, json }: QueryCommand,
): Promise<void> {
  const { database, pool, logger } = connection;
  const canAdd = missing.mayAdd && (withOperations || (!json && isAtTerminal()));
  if (!canAdd) {
    const also = missing.mayAdd ? ", and so does this command with --with-operations" : "";
    throw extensionMissing({ ...missing, sentence: `${missing.sentence}${also}` });
  }
  if (!withOperations) {
    const what = `An operation by query needs tables that the schema ${database.schema.name} does not have.`;
    await confirm(`${what} Add them?`, "--with-operations");
  }
  const { extension } = OPERATION_TABLES;
  await migrate(pool, database.schema, { logger, extensions: [extension] });
  const message = `Added the extension ${extension}`;
  await trailOf(connection).record({
    ...typedBy(),
    ...{ action: "add-extension", message, query: null, operationId: null },
    ...{ changes: { name: extension }, requested: null, done: null },
    ...{ ids: null, key: null, workers: null, before: null, after: null },
  });
  if (!json) print(message);
}

/** Returns `missing`. The commands in it are completed for the database and schema of the running command. */
const onSameQueue = (missing: MissingTables, { line, text }: SameQueue): MissingTables => ({
  ...missing,
  command: missing.command === null ? null : line(missing.command),
  sentence: text(missing.sentence),
});

// The `walkMs` of the rehearsal (rehearse.ts): longer than the default, so that more numbers of jobs are exact.
const MAX_WALK_MS = 5_000;

const EMPTY_QUERY = "is empty, which would match every job; if that is intended, use id>0";

/** Records in the audit trail that a typed command has started or changed an operation. */
export async function recordTyped(
  connection: CommandConnection,
  operation: JobOperation,
  action: string,
  message: string,
): Promise<void> {
  await trailOf(connection).record({
    ...typedBy(),
    ...{ action, message, query: operation.query, operationId: operation.id },
    ...{ changes: operation.changes, requested: operation.expected?.value ?? null, done: null },
    ...{ ids: null, key: null, workers: null, before: null, after: null },
  });
}
