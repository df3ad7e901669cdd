// worker admin: the admin server on an existing database, until SIGTERM or SIGINT.
import { type AdminArguments, adminOptions } from "./admin-server.ts";
import type { Command } from "./command.ts";

export const adminCommand: Command<AdminArguments> = {
  command: "admin",
  describe: "Serve the admin page and its API",
  builder: adminOptions,
  handler: async (args) => {
    const { commandLogger, connectionSettings } = await import("./connection.ts");
    const { adminConfig, announce } = await import("./admin-server.ts");
    const { aborted, stopSignal } = await import("./signals.ts");
    const { createPool } = await import("../database/pool.ts");
    const { schemaName } = await import("../database/schema-name.ts");
    const { assertUsableSchema } = await import("../database/schema-state.ts");
    const { serve } = await import("../admin/server.ts");
    const settings = connectionSettings(args);
    const logger = await commandLogger(args);
    const signal = stopSignal();
    const pool = createPool({ ...settings, logger, applicationName: "worker admin" });
    try {
      const config = await adminConfig(args, pool, settings.schema, logger);
      await assertUsableSchema({ client: pool, schema: schemaName(settings.schema) });
      const server = await serve(config);
      announce(server, config, args.json);
      await aborted(signal);
      logger.info({ signal: signal.reason }, "stopping");
      await server.stop();
    } finally {
      await pool.end();
    }
  },
};
