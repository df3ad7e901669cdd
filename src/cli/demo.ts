// worker demo: everything at once on this machine: a PostgreSQL of its own, the schema, sample
// jobs, a worker that works on them, and the admin. Stops cleanly on SIGTERM or SIGINT and goes on from there the next time.
import { WorkerError } from "../base/errors.ts";
import { type AdminArguments, adminOptions } from "./admin-server.ts";
import type { Command } from "./command.ts";

interface DemoArguments extends AdminArguments {
  dataDir: string | undefined;
  fresh: boolean;
  worker: boolean;
}

export const demoCommand: Command<DemoArguments> = {
  command: "demo",
  describe: "Show it all on an embedded PostgreSQL with sample jobs",
  builder: (yargs) =>
    adminOptions(
      yargs.options({
        "data-dir": {
          type: "string",
          requiresArg: true,
          describe: "Where the database lives [default: the user's data directory]",
        },
        worker: {
          type: "boolean",
          default: true,
          describe: "Run a sample worker that works on the jobs (--no-worker: keep them still)",
        },
        fresh: { type: "boolean", default: false, describe: "Start over with an empty database" },
      }),
    ),
  handler: async (args) => {
    const { commandLogger, schemaSetting } = await import("./connection.ts");
    const { adminConfig, announce } = await import("./admin-server.ts");
    const { aborted, stopSignal } = await import("./signals.ts");
    const { openDemoDatabase } = await import("./demo-database.ts");
    const { startDemoWorker } = await import("./demo-worker.ts");
    const { serve } = await import("../admin/server.ts");
    const logger = await commandLogger(args);
    const signal = stopSignal();
    const database = await openDemoDatabase({
      ...args,
      schema: schemaSetting(args),
      logger,
      signal,
    });
    try {
      const config = await adminConfig(args, database.pool, schemaSetting(args), logger);
      const server = await serve(config);
      announce(server, config, args.json);
      const worker = args.worker ? await startDemoWorker({ ...database, logger, signal }) : null;
      const isAsked = await Promise.race([
        aborted(signal).then(() => true),
        database.exited.then(() => false),
      ]);
      logger.info({ signal: signal.reason }, "stopping");
      await Promise.all([server.stop(), worker?.stop()]);
      if (!isAsked) {
        throw new WorkerError("embedded_server", "PostgreSQL has died; start the demo again");
      }
    } finally {
      await database.close();
    }
  },
};
