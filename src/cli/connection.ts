// From global options and environment to a connected WorkerUtils for the length of one command.
// The only reader of DATABASE_URL and WORKER_SCHEMA.
import { WorkerError } from "../base/errors.ts";
import type { Logger } from "../base/logger.ts";
import type { WorkerUtils } from "../queue/worker-utils.ts";

/** What yargs makes of the options that every command has. */
export interface GlobalArguments {
  readonly databaseUrl?: string | undefined;
  readonly schema?: string | undefined;
  readonly maxConnections: number;
  readonly json: boolean;
  readonly verbose: boolean;
}

export interface ConnectionSettings {
  readonly connectionString: string;
  readonly schema: string;
  readonly maxConnections: number;
}

/** Flags before environment before defaults. Throws when no database is named. */
export function connectionSettings(args: GlobalArguments): ConnectionSettings {
  const connectionString = args.databaseUrl || process.env["DATABASE_URL"];
  if (!connectionString) {
    throw new WorkerError(
      "configuration",
      'set DATABASE_URL (or --database-url) to postgres://user:password@host:port/database; "worker demo" shows everything on a database of its own',
    );
  }
  return { connectionString, schema: schemaSetting(args), maxConnections: connectionLimit(args) };
}

/** `--schema`, else WORKER_SCHEMA, else `worker`. */
export function schemaSetting(args: GlobalArguments): string {
  return args.schema ?? (process.env["WORKER_SCHEMA"] || "worker");
}

function connectionLimit(args: GlobalArguments): number {
  const limit = args.maxConnections;
  if (!Number.isInteger(limit) || limit < 1 || limit > 1000) {
    throw new WorkerError(
      "configuration",
      "--max-connections must be a whole number from 1 to 1000",
    );
  }
  return limit;
}

/** The logger that the global options ask for. */
export async function commandLogger(args: GlobalArguments): Promise<Logger> {
  const { createLogger } = await import("../base/logger.ts");
  return createLogger({
    format: args.json ? "json" : "text",
    level: args.verbose ? "debug" : "info",
  });
}

/** Connects, checks that the schema is usable, runs the command, and lets the connections go. */
export async function withUtils<T>(
  args: GlobalArguments,
  run: (utils: WorkerUtils) => Promise<T>,
): Promise<T> {
  const settings = connectionSettings(args);
  const { makeWorkerUtils } = await import("../queue/worker-utils.ts");
  const { boundedQueryable, createPool } = await import("../database/pool.ts");
  const { assertUsableSchema } = await import("../database/schema-state.ts");
  const pool = createPool({ ...settings, logger: await commandLogger(args) });
  try {
    // A table that somebody has locked must not hold a command for ever.
    const utils = (
      await makeWorkerUtils({ pool, schema: settings.schema, preparedStatements: false })
    ).with(boundedQueryable(pool, COMMAND_BOUNDS));
    await assertUsableSchema(utils.database);
    return await run(utils);
  } finally {
    await pool.end();
  }
}

const COMMAND_BOUNDS = {
  statementTimeout_ms: 60_000,
  lockTimeout_ms: 10_000,
  readOnly: false,
} as const;
