// Determines what a migration would do. It only reads, without a lock, so the schema may change before the migration.
import { WorkerError } from "../../base/errors.ts";
import type { Database } from "../database.ts";
import { readStrayFunctions } from "../stray-functions.ts";
import { current, type MigrationOutcome, workLeft } from "./build-schema.ts";
import { unfinishedExtensions } from "./extensions/extension.ts";
import { extensions } from "./extensions/index.ts";
import { KNOWN_LEVEL, schemaState } from "./schema-state.ts";

/**
 * Returns the outcome that migrate() would have if it succeeded. Throws WorkerError if migrate() would reject the
 * schema.
 */
export async function planMigration(
  db: Database,
  requested: readonly string[],
): Promise<MigrationOutcome> {
  const state = await schemaState(db);
  switch (state.kind) {
    case "absent":
    case "empty": {
      const nothing = { objects: new Set<string>(), versions: new Map<string, number>() };
      const added = unfinishedExtensions(extensions, nothing, requested).map(({ name }) => name);
      return { kind: "created", level: KNOWN_LEVEL, extensions: added, warnings: [] };
    }
    case "ready": {
      const plan = { registry: extensions, requested, existing: "bring up to date" } as const;
      const left = workLeft(state, plan);
      const strays = await readStrayFunctions(db);
      if (left.length + strays.length === 0) return current(state);
      return {
        kind: state.origin === "ours" ? "upgraded" : "adopted",
        level: state.level,
        extensions: left.map(({ name }) => name),
        warnings: state.warnings,
      };
    }
    case "outdated":
    case "too-new":
    case "foreign":
      throw new WorkerError("schema_unsupported", state.reason);
    default:
      return state satisfies never;
  }
}
