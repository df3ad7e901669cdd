// Operations by query are stored in the tables of the extension "operations". Without them, an operation can be
// previewed but not started.
import { WorkerError } from "../../../base/errors.ts";
import type { Database } from "../../../database/database.ts";
import { hasOperations } from "../../../database/schema/extensions/has-operations.ts";
import {
  type MissingTables,
  type NeededTables,
  whyMissing,
} from "../../../database/schema/extensions/missing-tables.ts";
import { actionData, type OperationAction } from "./action.ts";

export const OPERATIONS = "operations";

export const operationTables: NeededTables = {
  extension: OPERATIONS,
  use: ["an operation by query", "operations by query"],
  tables: [
    "_private_operations",
    "_private_operation_rows",
    "_private_rehearsals",
    "_private_audit",
  ],
  newest: "_private_operation_rows_undo_idx",
  command: "worker migrate --with-operations",
};

/** Returns what is missing; null if operations by query can be started. */
export async function missingTables(db: Database): Promise<MissingTables | null> {
  return (await hasOperations(db)) ? null : whyMissing(db, operationTables);
}

/** Returns what is missing for this action, on one job or by query; null if it needs no tables that are missing. */
export const missingFor = async (
  db: Database,
  action: OperationAction,
): Promise<MissingTables | null> => (await actionData(action).missing?.(db)) ?? null;

/** Returns the error for an operation that cannot be started. */
export const extensionMissing = ({ sentence }: MissingTables): WorkerError =>
  new WorkerError("extension_missing", sentence);
