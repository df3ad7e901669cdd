// worker admin: serves the admin until a signal stops it. With --tls-cert, SIGHUP does not stop it, but reloads the
// certificate.
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
    const { adminConfig, announce, certificateReload } = await import("../admin/admin-server.ts");
    const { serviceManager } = await import("../service/service-manager.ts");
    const { stopSignal, waitForAbort } = await import("../shell/signals.ts");
    const { createPool } = await import("../../database/connection/pool.ts");
    const { assertUsableSchema } = await import("../../database/schema/schema-state.ts");
    const { serve } = await import("../../admin/serve.ts");
    const settings = connectionSettings(args);
    const logger = await commandLogger(args);
    const pool = createPool({ ...settings, logger, applicationName: "worker admin" });
    try {
      const config = await adminConfig(args, pool, settings.schema, logger);
      let reload = () => {};
      const signal = stopSignal(args.tlsCert === undefined ? undefined : () => reload());
      await using manager = serviceManager(process.env, logger);
      await using server = await serve(config);
      reload = certificateReload(server, logger);
      announce(server, config, args.json);
      await manager.ready(`serving ${server.url}`, signal);
      // An unreachable database or an unusable schema is only logged: the page shows the problem, and can create a
      // missing schema.
      const database = { client: pool, schema: config.schema };
      await assertUsableSchema(database).catch(({ code, message }: WorkerError) => {
        logger.warn({ code }, message);
      });
      await waitForAbort(signal);
      logger.info({ signal: signal.reason }, "stopping");
    } finally {
      await pool.end();
    }
    return undefined;
  },
});
