// worker operations: lists operations (actions on all jobs that match a query), or shows or changes one of them.

import { lifecycleActions } from "../../commands/operations/lifecycle.ts";
import { isJobId } from "../../domain/job-ids.ts";
import { numberText } from "../../domain/words.ts";
import { UsageError } from "../arguments/refusals.ts";
import { choice, text, whole, withDefault } from "../arguments/values.ts";
import { print, printJson, printTable } from "../output/print.ts";
import { withConnection } from "../shell/connection.ts";
import { defineCommand } from "../shell/globals.ts";

export const operationsCommand = defineCommand({
  name: "operations",
  describe: "List or undo operations and recorded actions; pause, resume or stop operations",
  positionals: {
    id: text("Operation id; without an id, operations are listed", { form: "id", optional: true }),
    action: choice(
      "pause, resume, stop or undo; without an action, the operation is shown",
      lifecycleActions,
      {
        optional: true,
      },
    ),
  },
  options: { limit: withDefault(whole("Maximum number of operations", 1, 200), 20) },
  notes:
    'resume and undo run the operation in this process, and Ctrl-C pauses the operation. Operations need the tables added by "worker migrate --with-operations".',
  run: async ({ id, action, limit, ...args }) => {
    if (id !== undefined && !isJobId(id)) {
      throw new UsageError(`<id>: "${id}" is not the id of an operation`, "operations");
    }
    const { operationTools } = await import("../operations/operation-tools.ts");
    const { outcomeLines, progressLine } = await import("../operations/operation-text.ts");
    const { readForeignColumns } = await import("../../database/inspect/foreign-columns.ts");
    const { runInForeground, showProgress } = await import("../operations/run-operation.ts");
    const { recordTyped } = await import("../operations/by-query.ts");
    const { missingTables, OPERATION_TABLES } = await import(
      "../../database/schema/extensions/missing-tables.ts"
    );
    const { changeOperation, existingOperation } = await import(
      "../../commands/operations/lifecycle.ts"
    );
    const { atWork, cancellingCount, skippedJobs, operationJson } = await import(
      "../../commands/operations/model/operation.ts"
    );
    return withConnection(args, async (connection) => {
      const tools = operationTools(connection, showProgress);
      const missing = await missingTables(tools.reads, OPERATION_TABLES);
      const store = missing === null ? tools.store : null;
      if (id === undefined) {
        const { operations: list = [] } = (await store?.list(limit, null)) ?? {};
        if (args.json) printJson(`{"operations":[${list.map(operationJson).join(",")}]}`);
        else if (list.length === 0)
          print(
            `There are no operations${missing === null ? "" : `; ${args.suggest.text(missing.sentence)}`}`,
          );
        else {
          printTable(
            ["ID", "STATE", "ACTION", "DONE", "LEFT ALONE", "BY", "STARTED", "QUERY"],
            list.map((one) => [
              ...[one.id, one.state, one.action, numberText(one.done)],
              numberText(skippedJobs(one) - cancellingCount(one)),
              ...[one.origin.by ?? "", one.startedAt.replace(/\.\d+Z$/, "Z"), one.query],
            ]),
          );
        }
        return 0;
      }
      const operation =
        action === undefined
          ? await existingOperation(store, id)
          : await changeOperation(store, id, action);
      if (action !== undefined) {
        await recordTyped(
          connection,
          operation,
          `operation.${action}`,
          `${action} operation ${id}`,
        );
      }
      if (action === "resume" || action === "undo") return runInForeground(tools, operation, args);
      if (args.json) printJson(operationJson(operation));
      else if (atWork.includes(operation.state)) print(progressLine(operation));
      else
        for (const line of outcomeLines(
          operation,
          args.suggest,
          await readForeignColumns(tools.reads),
        ))
          print(line);
      return 0;
    });
  },
});
