// worker demo: everything at once on this machine: a PostgreSQL of its own, the schema, sample
// jobs, a worker that works on them, and the admin. Stops cleanly on SIGTERM or SIGINT and goes on
// from there the next time.
import { WorkerError } from "../../base/errors.ts";
import { adminNotes, adminOptions } from "../admin/admin-server.ts";
import { flag, text } from "../arguments/values.ts";
import { defineCommand } from "../shell/globals.ts";

const SCHEMA = "worker";
const notYet = () => new Error("the demo's database is not there yet");
const OWN = "it runs on a database of its own";

export const demoCommand = defineCommand({
  name: "demo",
  describe: "Show it all on an embedded PostgreSQL with sample jobs",
  options: {
    dataDir: text(
      "Where the database lives [default: worker/demo in $XDG_STATE_HOME, or in ~/.local/state, as root in /var/lib]",
      {
        form: "path",
      },
    ),
    worker: flag("Keep the jobs still: no sample worker works on them", {}, true),
    fresh: flag("Start over with an empty database"),
    ...adminOptions,
  },
  notes: adminNotes,
  refuses: { databaseUrl: OWN, schema: OWN },
  run: async (args) => {
    const { commandLogger } = await import("../shell/connection.ts");
    const { adminConfig, announce, certificateReload } = await import("../admin/admin-server.ts");
    const { aborted, stopSignal } = await import("../shell/signals.ts");
    const { openDemoDatabase } = await import("../demo/database.ts");
    const { startDemoWorker } = await import("../demo/worker.ts");
    const { refusingPool } = await import("../../database/connection/pool.ts");
    const { serve } = await import("../../admin/server.ts");
    const logger = await commandLogger(args);
    let reload = () => {};
    const signal = stopSignal(args.tlsCert === undefined ? undefined : () => reload());
    // Wrong options are refused before a database is made.
    await adminConfig(args, refusingPool(notYet), SCHEMA, logger);
    // Each ends before what stands above it, also when one of them cannot start.
    await using database = await openDemoDatabase({ ...args, schema: SCHEMA, logger, signal });
    const config = await adminConfig(args, database.pool, SCHEMA, logger);
    await using server = await serve(config);
    reload = certificateReload(server, logger);
    announce(server, config, args.json);
    await using _worker = args.worker
      ? await startDemoWorker({ ...database, logger, signal })
      : null;
    const isAsked = await Promise.race([
      aborted(signal).then(() => true),
      database.exited.then(() => false),
    ]);
    if (isAsked) logger.info({ signal: signal.reason }, "stopping");
    else throw new WorkerError("embedded_server", "PostgreSQL has died; start the demo again");
    return undefined;
  },
});
