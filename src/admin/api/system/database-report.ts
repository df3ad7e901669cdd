// The report on the database. Each part is read separately. A part that cannot be read, for example for lack of
// privileges or because of a timeout, is null or an empty list, and `missing` has the reason.
import { now } from "../../../base/clock.ts";
import { WorkerError } from "../../../base/errors.ts";
import type { Database } from "../../../database/database.ts";
import { readIndexes, readTables } from "../../../database/inspect/relations.ts";
import { readServerFacts } from "../../../database/inspect/server-facts.ts";
import {
  readConnections,
  readOldestTransaction,
  readOldestXmin,
} from "../../../database/inspect/sessions.ts";
import type { Extension } from "../../../database/schema/extensions/extension.ts";
import { extensions } from "../../../database/schema/extensions/index.ts";
import type { IndexBuilds } from "../../../database/schema/indexes/index-builds.ts";
import { readIndexStates } from "../../../database/schema/indexes/index-states.ts";
import {
  KNOWN_LEVEL,
  type SchemaState,
  schemaState,
} from "../../../database/schema/schema-state.ts";
import type { Feed } from "../../feed/feed.ts";
import { readTidyUp } from "./tidy-up.ts";

/** Reads the report. Rejects if the database cannot be reached or the request has ended. */
export async function readDatabaseReport(db: Database, builds: IndexBuilds, feed: Feed) {
  const asOf = new Date(now()).toISOString();
  const missing: string[] = [];
  const part = async <T>(what: string, read: Promise<T>): Promise<T | null> => {
    try {
      return await read;
    } catch (error) {
      // Without the database, or after the end of the request, there is no report.
      if (!(error instanceof WorkerError) || GONE.has(error.code)) throw error;
      missing.push(`${what}: ${error.message}`);
      return null;
    }
  };
  // The parts are read in sequence, so that a report does not use all connections of a small pool.
  const server = await part("server", readServerFacts(db));
  const schema = await part("schema", schemaState(db));
  const isThere = schema?.kind !== "absent" && schema?.kind !== "empty";
  const tables = await part("tables", readTables(db));
  const indexes = await part("indexes", readIndexes(db));
  const optional = await part("optional_indexes", readIndexStates(db, builds));
  const connections = await part("connections", readConnections(db));
  const oldest = await part("oldest_transaction", readOldestTransaction(db));
  const oldestXmin = await part("oldest_xmin", readOldestXmin(db));
  const tidyUp = isThere
    ? await part(
        "cleanup",
        feed.snapshot().then((snapshot) => readTidyUp(db, snapshot)),
      )
    : null;
  const hidden = connections?.hidden ?? 0;
  if (hidden > 0) {
    missing.push(
      `connections: the states and transactions of ${hidden} sessions of other roles are hidden; grant pg_read_all_stats to this role`,
    );
  }
  return {
    as_of: asOf,
    server,
    schema: schema === null ? null : schemaJson(schema, db.schema.name),
    tables: tables ?? [],
    indexes: indexes ?? [],
    optional_indexes: optional ?? [],
    connections,
    oldest_transaction: oldest,
    oldest_xmin: oldestXmin,
    cleanup: tidyUp ?? [],
    missing,
  };
}

const GONE: ReadonlySet<string> = new Set(["database_unreachable", "aborted"]);

function schemaJson(state: SchemaState, name: string) {
  const isReady = state.kind === "ready";
  const hasLevel = isReady || state.kind === "outdated" || state.kind === "too-new";
  return {
    name,
    state: state.kind,
    origin: isReady ? state.origin : null,
    level: hasLevel ? state.level : null,
    supported_level: KNOWN_LEVEL,
    problem: "reason" in state ? state.reason : null,
    warnings: isReady ? state.warnings : [],
    extensions: isReady ? extensions.map((one) => extensionJson(one, state)) : [],
  };
}

type ReadyState = Extract<SchemaState, { kind: "ready" }>;

function extensionJson(
  { name, provides, added, version, objects }: Extension,
  state: ReadyState,
): object {
  const recorded = state.versions?.get(name) ?? null;
  const isThere = state.extensions.has(name);
  return {
    name,
    provides,
    // If the ledger of extensions has no version of the extension, or version 0, another program has created it.
    is_foreign: isThere && state.versions !== null && (recorded === null || recorded === 0),
    is_installed: isThere,
    is_complete: objects.every((object) => state.objects.has(object)),
    version: recorded,
    supported_version: version,
    is_automatic: added === "always",
  };
}
