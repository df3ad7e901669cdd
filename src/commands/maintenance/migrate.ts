// Declares the command that migrates the schema. database/schema/migrate.ts implements the migration.
import type { Pool } from "pg";
import { WorkerError } from "../../base/errors.ts";
import type { Database } from "../../database/database.ts";
import { extensions } from "../../database/schema/extensions/index.ts";
import { planBuild, whyNotBuilt } from "../../database/schema/indexes/build-index.ts";
import { findIndexes } from "../../database/schema/indexes/found-indexes.ts";
import { buildAndLog } from "../../database/schema/indexes/index-builds.ts";
import {
  type IndexName,
  indexNames,
  recommendedIndexes,
} from "../../database/schema/indexes/optional-index.ts";
import { migrate } from "../../database/schema/migrate.ts";
import { planMigration } from "../../database/schema/plan-migration.ts";
import { schemaState } from "../../database/schema/schema-state.ts";
import { defineCommand, jsonOf, type RunContext } from "../declare/command.ts";
import { choice, flag, list, optional } from "../declare/field.ts";
import { maintenanceAction } from "./maintenance-action.ts";

const onRequest = extensions.filter(({ added }) => added === "on request").map(({ name }) => name);

export const migrateCommand = defineCommand({
  name: "migrate",
  aliases: [],
  summary: "Create the schema, or adopt an existing Graphile Worker installation",
  title: "Migrate the schema",
  verb: "Migrate",
  consequence: "Applies the missing migrations. Workers may keep running.",
  weight: "heavy",
  danger: "changes",
  http: maintenanceAction("migrate"),
  positionals: [],
  fields: {
    with: optional(
      list(
        [
          "Extensions",
          "optional extensions to add: controls for pauses, limits for limits and back-offs (also adds controls), schedules for cron entries that can be changed while workers run, operations for undo and the audit trail",
        ],
        choice(["Extension", "name of an extension"], onRequest),
        onRequest.length,
      ),
    ),
    with_operations: optional(
      flag([
        "With operations",
        "also add the extension operations, for operations by query, receipts, undo and the audit trail",
      ]),
      { default: "false" },
    ),
    with_indexes: optional(
      list(
        ["Optional indexes", "optional indexes to build, for faster reads of the admin"],
        choice(["Index", "name of an index"], indexNames),
        indexNames.length,
        { whenBare: recommendedIndexes },
      ),
    ),
    dry_run: optional(flag(["Dry run", "only show what would be done"]), { default: "false" }),
  },
  dialogFields: ["with_operations", "with_indexes"],
  makesSchema: true,
  dialog: "upkeep",
  examples: ["worker migrate", "worker migrate --with controls,operations --dry-run"],
  answer: {
    dry_run: "boolean",
    outcome: "string",
    level: "integer",
    extensions: "string[]",
    warnings: "string[]",
    indexes: "string[]",
    skipped_indexes: "string[]",
  },
  isPreview: (input) => input.dry_run === true,
  run: async (
    db,
    {
      with: named = [],
      with_operations: withOperations,
      with_indexes: indexNames = [],
      dry_run: dryRun = false,
    },
    context,
  ) => {
    const { schema } = db;
    const requested = [...new Set(withOperations === true ? [...named, "operations"] : named)];
    if (dryRun) {
      const planned = await planMigration(db, requested);
      const found = await buildableOf(db, await missingOf(db, indexNames));
      return { schema: schema.name, dryRun, ...planned, ...found };
    }
    const { pool, logger, signal, migrationWaitMs } = context;
    if (pool === null) throw new WorkerError("configuration", "a migration needs a pool");
    const limit = migrationWaitMs === undefined ? {} : { timeoutMs: migrationWaitMs };
    const outcome = await migrate(pool, schema, {
      ...{ logger, signal, ...limit },
      extensions: requested,
    });
    const done = { schema: schema.name, dryRun, ...outcome, indexes: [], leftOut: [] };
    if (outcome.kind !== "current") context.committed(done);
    const found = await buildableOf(db, await missingOf(db, indexNames));
    const committed = (indexes: unknown) => context.committed({ ...done, ...found, indexes });
    const indexes = await buildIndexes(db, found.indexes, { ...context, pool, committed });
    return { ...done, ...found, indexes };
  },
  sentence: ({ kind, schema, level, warnings, leftOut, dryRun }) => {
    const done = (dryRun ? plannedSentence : doneSentence)(kind, schema);
    const reasons = leftOut.map(({ reason }) => `skipped: ${reason}`);
    return [`${done} (level ${level})`, ...warnings, ...reasons].join("; ");
  },
  isPartial: ({ leftOut }) => leftOut.length > 0,
  members: ({ kind, level, extensions, warnings, indexes, leftOut, dryRun }) =>
    jsonOf({
      dry_run: dryRun,
      outcome: kind,
      level,
      extensions,
      warnings,
      indexes,
      skipped_indexes: leftOut.map(({ name }) => name),
    }),
});

function doneSentence(kind: string, schema: string): string {
  if (kind === "created") return `Created the schema ${schema}`;
  if (kind === "current") return `The schema ${schema} is up to date`;
  return `Updated the schema ${schema}`;
}

function plannedSentence(kind: string, schema: string): string {
  if (kind === "created") return `Would create the schema ${schema}`;
  if (kind === "current") return `The schema ${schema} is up to date`;
  return `Would update the schema ${schema}`;
}

/** Returns the given indexes that do not exist or are invalid. */
async function missingOf(db: Database, indexNames: readonly IndexName[]): Promise<IndexName[]> {
  const { kind } = await schemaState(db);
  const found = kind === "ready" ? await findIndexes(db) : [];
  const valid = found.filter(({ isValid }) => isValid).map(({ name }) => name);
  return [...new Set(indexNames)].filter((name) => !valid.includes(name));
}

/** Separates the indexes that can be built (`indexes`) from those that cannot (`leftOut`, each with the reason). */
async function buildableOf(db: Database, indexNames: readonly IndexName[]) {
  const reasons = await Promise.all(indexNames.map((name) => whyNotBuilt(db, name)));
  return {
    indexes: indexNames.filter((_, at) => reasons[at] === null),
    leftOut: indexNames.flatMap((name, at) => {
      const reason = reasons[at] ?? null;
      return reason === null ? [] : [{ name, reason }];
    }),
  };
}

/**
 * Builds the indexes that do not exist and are not being built. If `indexBuilds` is given, only starts the builds,
 * which then run in the background. Returns the indexes that were built, or whose builds were started.
 */
async function buildIndexes(
  db: Database,
  indexNames: readonly IndexName[],
  { pool, logger, signal, indexBuilds, committed }: RunContext & { readonly pool: Pool },
): Promise<IndexName[]> {
  const begun: IndexName[] = [];
  for (const name of indexNames) {
    const place = { pool, db };
    if ((await planBuild(place, name, indexBuilds !== undefined)) !== "to build") continue;
    if (indexBuilds === undefined) await buildAndLog(place, name, signal, logger);
    else indexBuilds.start(name);
    begun.push(name);
    committed(begun);
  }
  return begun;
}
