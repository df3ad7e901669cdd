// The database of `worker demo`: an embedded PostgreSQL with the schema and, if the queue is new, sample jobs.
// Disposing of a DemoDatabase stops the server and keeps the data.
import { join } from "node:path";
import type { Pool } from "pg";
import { WorkerError } from "../../base/errors.ts";
import type { Logger } from "../../base/logger.ts";
import { createDatabase } from "../../database/connection/create-database.ts";
import { closePool, createPool } from "../../database/connection/pool.ts";
import type { Database } from "../../database/database.ts";
import { type EmbeddedServer, startEmbeddedServer } from "../../database/embedded/server.ts";
import { userDirectory } from "../../database/embedded/user-directory.ts";
import { migrate } from "../../database/schema/migrate.ts";
import { schemaName } from "../../database/schema-name.ts";
import { insertSampleJobs } from "./sample-jobs.ts";

export interface DemoDatabaseOptions {
  /** Default: `demo` in the user's state directory. */
  readonly dataDir: string | undefined;
  /** Whether to delete the data of earlier runs. */
  readonly fresh: boolean;
  readonly schema: string;
  readonly maxConnections: number;
  readonly logger: Logger;
  readonly signal: AbortSignal;
}

export interface DemoDatabase extends AsyncDisposable {
  readonly pool: Pool;
  readonly database: Database;
  /** The address of the database for other programs on this machine, over the unix socket. */
  readonly url: string;
  /** Resolves when the server has exited, for any reason. */
  readonly exited: Promise<void>;
}

const DATABASE = "worker";
const EXTENSIONS = ["operations", "controls", "schedules", "limits"] as const;
const MAX_GOODBYE_MS = 2_000;

export async function openDemoDatabase(options: DemoDatabaseOptions): Promise<DemoDatabase> {
  const { logger, signal } = options;
  const schema = schemaName(options.schema);
  const dataDir = options.dataDir ?? join(userDirectory("state"), "demo");
  const server = await startEmbeddedServer({ dataDir, logger, signal }).catch((error) => {
    // If the start fails after the signal has aborted, the abort counts as the reason.
    throw signal.aborted ? stoppedEarly(error) : error;
  });
  let pool: Pool | undefined;
  try {
    await createDatabase(server.connection, DATABASE, options.fresh);
    const url = server.url(DATABASE);
    const { maxConnections } = options;
    pool = createPool({ connectionString: url, maxConnections, logger });
    await migrate(pool, schema, { logger, signal, extensions: EXTENSIONS });
    await insertSampleJobs({ client: pool, schema });
    if (signal.aborted) throw stoppedEarly();
    logger.info({ data_dir: dataDir, postgresql: server.version, url }, "the demo database is up");
    return {
      pool,
      database: { client: pool, schema },
      url,
      exited: server.exited,
      [Symbol.asyncDispose]: closeBoth(pool, server),
    };
  } catch (error) {
    await closeBoth(pool, server)();
    throw error;
  }
}

function stoppedEarly(cause?: unknown): WorkerError {
  return new WorkerError("aborted", "stopped before startup was complete", { cause });
}

function closeBoth(pool: Pool | undefined, server: EmbeddedServer): () => Promise<void> {
  return async () => {
    if (pool !== undefined) await closePool(pool, MAX_GOODBYE_MS);
    await server.stop();
  };
}
