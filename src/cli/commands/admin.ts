// worker admin: the admin server on an existing database, until SIGTERM or SIGINT.
import type { WorkerError } from "../../base/errors.ts";
import { adminNotes, adminOptions } from "../admin/admin-server.ts";
import { defineCommand } from "../shell/globals.ts";

export const adminCommand = defineCommand({
  name: "admin",
  describe: "Serve the admin page and its API",
  options: adminOptions,
  notes: adminNotes,
  run: async (args) => {
    const { commandLogger, connectionSettings } = await import("../shell/connection.ts");
    const { adminConfig, announce } = await import("../admin/admin-server.ts");
    const { aborted, stopSignal } = await import("../shell/signals.ts");
    const { createPool } = await import("../../database/connection/pool.ts");
    const { assertUsableSchema } = await import("../../database/schema/schema-state.ts");
    const { serve } = await import("../../admin/server.ts");
    const settings = connectionSettings(args);
    const logger = await commandLogger(args);
    const signal = stopSignal();
    const pool = createPool({ ...settings, logger, applicationName: "worker admin" });
    try {
      const config = await adminConfig(args, pool, settings.schema, logger);
      await using server = await serve(config);
      announce(server, config, args.json);
      // It serves also without a database: the page says what is wrong, and can make the schema.
      const database = { client: pool, schema: config.schema };
      await assertUsableSchema(database).catch(({ code, message }: WorkerError) => {
        logger.warn({ code }, message);
      });
      await aborted(signal);
      logger.info({ signal: signal.reason }, "stopping");
    } finally {
      await pool.end();
    }
    return undefined;
  },
});
