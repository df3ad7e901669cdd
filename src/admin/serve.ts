// Starts the admin on its own server. The server's code is loaded only when serve() is called, so that a worker without
// an admin starts faster and needs less memory.
import type { AdminServerConfig } from "./config/config.ts";
import type { AdminServer } from "./server.ts";

/**
 * Starts an admin server. Resolves when the server listens. The server's method stop() ends the server. Rejects
 * with WorkerError `listen` if the address cannot be used.
 */
export async function serve(config: AdminServerConfig): Promise<AdminServer> {
  const { createAdminServer } = await import("./server.ts");
  const server = await createAdminServer(config);
  await server.start();
  return server;
}
