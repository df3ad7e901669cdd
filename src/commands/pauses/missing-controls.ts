// Pauses are stored in the tables of the extension "controls". Without them every pause is refused.
import { WorkerError } from "../../base/errors.ts";
import type { Database } from "../../database/database.ts";
import { hasControls } from "../../database/schema/extensions/has-extension.ts";
import {
  type MissingTables,
  type NeededTables,
  whyMissing,
} from "../../database/schema/extensions/missing-tables.ts";
import { workerLine } from "../../domain/portable/worker-line.ts";

export const controlTables: NeededTables = {
  extension: "controls",
  use: ["a pause", "pauses"],
  tables: ["_private_pauses", "_private_cancellations"],
  newest: "_private_cancellations",
  command: "worker migrate --with controls",
};

/** Returns null if there can be pauses and cancellations. `use`: what needs them, as in `NeededTables`. */
export async function missingControls(
  db: Database,
  use = controlTables.use,
): Promise<MissingTables | null> {
  return (await hasControls(db)) ? null : whyMissing(db, { ...controlTables, use });
}

/** Throws `extension_missing` where there is no table for pauses and cancellations. `what` needs it: `a pause`. */
export async function requireControls(db: Database, what: string): Promise<void> {
  if (await hasControls(db)) return;
  const { name } = db.schema;
  const command = workerLine(name, "worker migrate --with controls");
  const sentence = `${what} needs tables that the schema ${name} does not have: "${command}" adds them`;
  throw new WorkerError("extension_missing", sentence);
}
