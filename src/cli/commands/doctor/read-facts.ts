// Reads the facts that `worker doctor` checks. Most failures of a read become warnings, and the other facts are read.

import { monotonic, now } from "../../../base/clock.ts";
import { WorkerError } from "../../../base/errors.ts";
import { silentLogger } from "../../../base/logger.ts";
import type { Database } from "../../../database/database.ts";
import { readOpenSchemas } from "../../../database/inspect/open-schemas.ts";
import { readIndexes, readTables } from "../../../database/inspect/relations.ts";
import { readMissingPrivileges } from "../../../database/inspect/role-privileges.ts";
import { readSchemaDrift } from "../../../database/inspect/schema-drift.ts";
import { readLaggingSequences } from "../../../database/inspect/sequences.ts";
import { readServerFacts } from "../../../database/inspect/server-facts.ts";
import {
  readConnections,
  readOldestTransaction,
  readOldestXmin,
} from "../../../database/inspect/sessions.ts";
import { readTransactionAge } from "../../../database/inspect/transaction-age.ts";
import { readIndexStates } from "../../../database/schema/indexes/index-states.ts";
import { assertUsableSchema, schemaState } from "../../../database/schema/schema-state.ts";
import { createInsight } from "../../../insight/insight.ts";
import { limitsNote } from "../../../insight/limits/unreported.ts";
import { readUnsettledJobs } from "../../../insight/why/holders.ts";
import { readLostNames } from "../../../queue/tidy/lost-names.ts";

const NO_BUILDS = { isWaiting: () => false, failureOf: () => null };

export type DoctorFacts = Awaited<ReturnType<typeof readFacts>>;

/** Returns the facts. `unread`: the reads that failed, with their errors. Throws WorkerError `database_unreachable`. */
export async function readFacts(db: Database) {
  const unread: string[] = [];
  const part = async <T>(what: string, read: () => Promise<T>): Promise<T | null> => {
    try {
      return await read();
    } catch (error) {
      if (!(error instanceof WorkerError) || error.code === "database_unreachable") throw error;
      unread.push(`${what}: ${error.message}`);
      return null;
    }
  };
  const server = await part("server", () => readServerFacts(db));
  const skewMs = await part("clock", () => readSkew(db));
  const schema = await part("schema", () => schemaState(db));
  const general = {
    server,
    skewMs,
    schema,
    connections: await part("connections", () => readConnections(db)),
    transactionAge: await part("transaction age", () => readTransactionAge(db)),
    oldest: await part("oldest transaction", () => readOldestTransaction(db)),
    oldestXmin: await part("oldest xmin", () => readOldestXmin(db)),
    privileges: (await part("privileges", () => readMissingPrivileges(db))) ?? [],
    open: (await part("search path", () => readOpenSchemas(db))) ?? [],
    schemaName: db.schema.name,
    unread,
  };
  if (schema?.kind !== "ready") return { ...general, queue: null };
  return {
    ...general,
    queue: {
      unusable: await part("usability of the schema", () => whyUnusable(db)),
      drift: await part("schema drift", () => readSchemaDrift(db)),
      tables: (await part("tables", () => readTables(db))) ?? [],
      indexes: (await part("indexes", () => readIndexes(db))) ?? [],
      optional: (await part("optional indexes", () => readIndexStates(db, NO_BUILDS))) ?? [],
      lostNames: await part("names of jobs", () => readLostNames(db)),
      unsettled: schema.objects.has("_private_workers")
        ? ((await part("refused results", () => readUnsettledJobs(db))) ?? [])
        : [],
      sweep: await part("stale locks", () => readSweep(db)),
      laggingSequences: (await part("sequences", () => readLaggingSequences(db))) ?? [],
      entriesOff: (await part("timetables", () => readEntriesOff(db))) ?? [],
      cronDifferences:
        (await part("versions of cron entries", () => readCronDifferences(db))) ?? [],
      limitsNote: await part("limits", () => limitsNote(db)),
      incidents: await part("incidents", () => createInsight(db).incidents()),
    },
  };
}

/** Returns why the queue is not usable; null if it is usable. */
async function whyUnusable(db: Database): Promise<string | null> {
  try {
    await assertUsableSchema(db);
    return null;
  } catch (error) {
    if (error instanceof WorkerError && error.code === "schema_unsupported") return error.message;
    throw error;
  }
}

/** The ids of stale workers, and of unknown workers without recent locks. */
interface Swept {
  readonly stale: readonly string[];
  readonly unknown: readonly string[];
}

/** Returns what a dry run of `worker sweep` finds. */
async function readSweep(db: Database) {
  const { commands } = await import("../../../commands/index.ts");
  const { perform } = await import("../../../commands/perform.ts");
  const sweep = commands.find(({ name }) => name === "sweep");
  if (sweep === undefined) return null;
  const { signal } = new AbortController();
  const plan = await perform(
    sweep,
    db,
    { dry_run: true },
    { pool: null, logger: silentLogger, signal },
  );
  const { stale_workers: stale, unknown_workers: unknown } = JSON.parse(plan.json);
  const ids: Swept = { stale, unknown };
  return { ...ids, message: plan.message };
}

/** Returns up to 100 cron entries and schedules that have missed a tick, or skip ticks (`isAhead`). */
async function readEntriesOff(db: Database) {
  const { listCron } = await import("../../../insight/lists/cron/list-cron.ts");
  const off = { search: "", sort: "next", limit: 100, cursor: null, isOff: true } as const;
  return (await listCron(db, off)).entries;
}

/** Returns texts about cron entries that live workers define differently, or that are also schedules. */
async function readCronDifferences(db: Database) {
  const { cronDifferences } = await import("../../../insight/lists/worker-differences.ts");
  return cronDifferences(db);
}

/** Returns the milliseconds by which this machine's clock is ahead of the database's clock (negative: behind). */
async function readSkew(db: Database): Promise<number> {
  const { databaseTime } = await import("../../../queue/cron/database-time.ts");
  const before = monotonic();
  const theirs = await databaseTime(db);
  return now() - (monotonic() - before) / 2 - theirs;
}
