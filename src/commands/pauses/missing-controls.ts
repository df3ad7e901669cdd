// Pauses are stored in the tables of the extension "controls". Without them every pause is refused.
import type { Database } from "../../database/database.ts";
import { hasControls } from "../../database/schema/extensions/has-controls.ts";
import {
  type MissingTables,
  type NeededTables,
  whyMissing,
} from "../../database/schema/extensions/missing-tables.ts";

export const controlTables: NeededTables = {
  extension: "controls",
  use: ["a pause", "pauses"],
  tables: ["_private_pauses", "_private_cancellations"],
  newest: "_private_cancellations",
  command: "worker migrate --with controls",
};

/** Returns null if queues and tasks can be paused. */
export async function missingControls(db: Database): Promise<MissingTables | null> {
  return (await hasControls(db)) ? null : whyMissing(db, controlTables);
}
