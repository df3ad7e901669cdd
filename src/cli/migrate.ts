// worker migrate: makes the schema, or adopts the one that is there.
import type { Command } from "./command.ts";

export const migrateCommand: Command = {
  command: "migrate",
  describe: "Create the schema, or adopt an existing Graphile Worker installation",
  handler: async (args) => {
    const { commandLogger, connectionSettings } = await import("./connection.ts");
    const { createPool } = await import("../database/pool.ts");
    const { migrate } = await import("../database/migrate.ts");
    const { schemaName } = await import("../database/schema-name.ts");
    const { stopSignal } = await import("./signals.ts");
    const { print } = await import("./output.ts");
    const settings = connectionSettings(args);
    const schema = schemaName(settings.schema);
    const logger = await commandLogger(args);
    const pool = createPool({ ...settings, logger, applicationName: "worker migrate" });
    try {
      const outcome = await migrate(pool, schema, { logger, signal: stopSignal() });
      print(args.json ? JSON.stringify(outcome) : `Schema "${schema.name}": ${outcome.kind}`);
    } finally {
      await pool.end();
    }
  },
};
