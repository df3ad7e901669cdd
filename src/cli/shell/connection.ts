// Connects to the queue that the global options name, for the duration of one command.
import type { Pool } from "pg";
import type { Logger } from "../../base/logger.ts";
import type { Database } from "../../database/database.ts";
import { printable, printableJson } from "../output/printable.ts";
import type { GlobalArguments, GlobalOptions } from "./globals.ts";

export interface CliConnectionSettings {
  readonly connectionString: string;
  readonly schema: string;
  readonly maxConnections: number;
}

/** Returns the settings of the connection. Without a URL, libpq's environment variables (PGHOST and others) apply. */
export function connectionSettings(args: GlobalOptions): CliConnectionSettings {
  const { databaseUrl: connectionString = "", schema, maxConnections } = args;
  return { connectionString, schema, maxConnections };
}

type Level = "debug" | "info" | "warn" | "error";

/** Returns a logger that writes to stderr and escapes control characters. */
export async function commandLogger(args: GlobalOptions): Promise<Logger> {
  const { cleanLogger, createLogger } = await import("../../base/logger.ts");
  const level = args.verbose ? "debug" : "info";
  if (args.json || process.stderr.isTTY !== true) {
    return cleanLogger({ format: "json", level }, (line) => `${printableJson(line.trimEnd())}\n`);
  }
  const logger = await createLogger({ format: "text", level });
  const safe = (level: Level) => (fields: object, message: string) =>
    logger[level](printableFields(fields, 0) as object, printable(message));
  return {
    ...{ debug: safe("debug"), info: safe("info"), warn: safe("warn"), error: safe("error") },
    isLevelEnabled: (level) => logger.isLevelEnabled?.(level) !== false,
  };
}

/** Like commandLogger(), but loads the logger's code at the first line, because most commands log nothing. */
function lateLogger(args: GlobalArguments): { logger: Logger; written(): Promise<void> } {
  let lines: Promise<Logger> | null = null;
  const isLevelEnabled = (level: Level) => level !== "debug" || args.verbose;
  const late = (level: Level) => (fields: object, message: string) => {
    if (!isLevelEnabled(level)) return;
    lines = (lines ?? commandLogger(args)).then((logger) => {
      logger[level](fields, message);
      return logger;
    });
  };
  const logger: Logger = {
    ...{ debug: late("debug"), info: late("info"), warn: late("warn"), error: late("error") },
    isLevelEnabled,
  };
  return { logger, written: async () => void (await lines) };
}

const DEEPEST_FIELD = 4;

function printableFields(value: unknown, depth: number): unknown {
  if (typeof value === "string") return printable(value);
  if (typeof value !== "object" || value === null || depth > DEEPEST_FIELD) return value;
  if (Array.isArray(value)) return value.map((one) => printableFields(one, depth + 1));
  if (Object.getPrototypeOf(value) !== Object.prototype) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => [name, printableFields(one, depth + 1)]),
  );
}

export interface CommandConnection {
  /** Statements and waits for locks have time limits. */
  readonly database: Database;
  readonly pool: Pool;
  readonly logger: Logger;
}

/** Connects, checks the schema (unless `needsSchema` is false), calls `run`, and closes the connections. */
export async function withConnection<T>(
  args: GlobalArguments,
  run: (connection: CommandConnection) => Promise<T>,
  needsSchema = true,
): Promise<T> {
  const settings = connectionSettings(args);
  const { boundedQueryable, createPool, endPool } = await import(
    "../../database/connection/pool.ts"
  );
  const { schemaName } = await import("../../database/schema-name.ts");
  const { assertUsableSchema } = await import("../../database/schema/schema-state.ts");
  const schema = schemaName(settings.schema);
  const { logger, written } = lateLogger(args);
  const pool = createPool({ ...settings, logger });
  try {
    const client = boundedQueryable(pool, COMMAND_BOUNDS);
    const database = { client, schema, preparedStatements: false };
    if (needsSchema) await assertUsableSchema(database);
    return await run({ database, pool, logger });
  } finally {
    await endPool(pool, END_MS);
    await written();
  }
}

/** How long the end of a command waits for connections in use. */
const END_MS = 1_000;

const COMMAND_BOUNDS = {
  statementTimeoutMs: 60_000,
  lockTimeoutMs: 10_000,
  readOnly: false,
} as const;
