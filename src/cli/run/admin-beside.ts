// Runs the admin in the process of `worker run`, with database connections of its own.
import type { Logger } from "../../base/logger.ts";
import type { Worker } from "../../worker/worker.ts";
import type { CliConnectionSettings } from "../shell/connection.ts";
import { ADMIN_ADDRESS, type RunArguments } from "./run-options.ts";
import type { StopRequests } from "./stop-requests.ts";

/**
 * Serves the admin. Returns an object whose disposal stops the admin; without --admin, returns null. `stops` handles
 * the signals of the process: if the admin has a certificate, SIGHUP from now on reloads the certificate instead of
 * stopping the worker. `worker` returns the worker of this process, or null before the worker is created; /healthz
 * lists the worker's jobs that ignore their signal.
 */
export async function adminBeside(
  args: RunArguments,
  settings: CliConnectionSettings,
  stops: StopRequests,
  logger: Logger,
  worker?: () => Pick<Worker, "jobsIgnoringSignal"> | null,
): Promise<AsyncDisposable | null> {
  if (args.admin === undefined) return null;
  const { adminConfig, announce, certificateReload } = await import("../admin/admin-server.ts");
  const { createPool } = await import("../../database/connection/pool.ts");
  const { serve } = await import("../../admin/serve.ts");
  const pool = createPool({ ...settings, logger, applicationName: "worker admin" });
  try {
    const listen = args.admin || ADMIN_ADDRESS;
    // The worker lists a job once for each attempt whose code ignores its signal. The Set removes repeated ids.
    const ignoring = () => [...new Set(worker?.()?.jobsIgnoringSignal.map(({ id }) => id))];
    const config = {
      ...(await adminConfig({ ...args, listen }, pool, settings.schema, logger)),
      ...(worker === undefined ? {} : { jobsIgnoringSignal: ignoring }),
    };
    const server = await serve(config);
    if (config.certificate !== null) stops.onHangup(certificateReload(server, logger));
    announce(server, config, args.json);
    return {
      async [Symbol.asyncDispose]() {
        await server.stop();
        await pool.end();
      },
    };
  } catch (error) {
    await pool.end();
    throw error;
  }
}
