// Limits are stored in the tables of the extension "limits". Without them every limit is refused.
import { WorkerError } from "../../base/errors.ts";
import type { Database } from "../../database/database.ts";
import { hasLimits } from "../../database/schema/extensions/has-extension.ts";
import {
  type MissingTables,
  type NeededTables,
  whyMissing,
} from "../../database/schema/extensions/missing-tables.ts";
import { workerLine } from "../../domain/portable/worker-line.ts";

export const limitTables: NeededTables = {
  extension: "limits",
  use: ["a limit", "limits"],
  tables: ["_private_limits", "_private_limit_permits", "_private_rates", "_private_queue_slots"],
  newest: "_private_back_offs",
  command: "worker migrate --with limits",
};

/** Returns null if limits can be set. */
export async function missingLimits(db: Database): Promise<MissingTables | null> {
  return (await hasLimits(db)) ? null : whyMissing(db, limitTables);
}

/** Throws `extension_missing` where there is no table for limits. `what` needs it: `a limit`, `throttle`. */
export async function requireLimits(db: Database, what = "a limit"): Promise<void> {
  if (await hasLimits(db)) return;
  const { name } = db.schema;
  const command = workerLine(name, "worker migrate --with limits");
  const sentence = `${what} needs tables that the schema ${name} does not have: "${command}" adds them`;
  throw new WorkerError("extension_missing", sentence);
}
