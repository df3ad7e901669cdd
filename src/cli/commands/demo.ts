// worker demo: runs an embedded PostgreSQL with the schema and sample jobs, a worker (unless --no-worker), and the
// admin. It stops cleanly at a signal (shell/signals.ts). The next run uses the same data, except with --fresh, which
// deletes the data first.
import { WorkerError } from "../../base/errors.ts";
import { adminNotes, adminOptions } from "../admin/admin-server.ts";
import { flag, text } from "../arguments/values.ts";
import { defineCommand } from "../shell/globals.ts";

const SCHEMA = "worker";
const notYet = () => new Error("the demo's database does not exist yet");
const OWN = "it has its own database";

export const demoCommand = defineCommand({
  name: "demo",
  describe: "Run an embedded PostgreSQL with sample jobs, a worker and the admin",
  options: {
    dataDir: text(
      "Data directory [default: worker/demo in $XDG_STATE_HOME or ~/.local/state (root: /var/lib)]",
      {
        form: "path",
      },
    ),
    worker: flag("Do not run the sample jobs", {}, true),
    fresh: flag("Delete the data of earlier runs, and start with new sample jobs"),
    ...adminOptions,
  },
  notes: adminNotes,
  unsupported: { databaseUrl: OWN, schema: OWN },
  run: async (args) => {
    const { commandLogger } = await import("../shell/connection.ts");
    const { adminConfig, announce, certificateReload } = await import("../admin/admin-server.ts");
    const { stopSignal, waitForAbort } = await import("../shell/signals.ts");
    const { openDemoDatabase } = await import("../demo/database.ts");
    const { startDemoWorker } = await import("../demo/worker.ts");
    const { refusingPool } = await import("../../database/connection/pool.ts");
    const { serve } = await import("../../admin/serve.ts");
    const logger = await commandLogger(args);
    let reload = () => {};
    const signal = stopSignal(args.tlsCert === undefined ? undefined : () => reload());
    // Invalid options of the admin are rejected before a database is created.
    await adminConfig(args, refusingPool(notYet), SCHEMA, logger);
    // At the end, or if a part fails to start, `await using` stops the parts that have started: first the worker, then
    // the admin, then the database.
    await using database = await openDemoDatabase({ ...args, schema: SCHEMA, logger, signal });
    const config = await adminConfig(args, database.pool, SCHEMA, logger);
    await using server = await serve(config);
    reload = certificateReload(server, logger);
    announce(server, config, args.json);
    await using _worker = args.worker
      ? await startDemoWorker({ ...database, logger, signal })
      : null;
    const exited = new AbortController();
    void database.exited.then(() => exited.abort());
    await waitForAbort(AbortSignal.any([signal, exited.signal]));
    if (signal.aborted) logger.info({ signal: signal.reason }, "stopping");
    else
      throw new WorkerError(
        "embedded_server",
        "PostgreSQL has stopped unexpectedly; start the demo again",
      );
    return undefined;
  },
});
