// Starts the admin on its own server. The server's code is loaded only by the call, so that the process of a worker
// without an admin starts faster and needs less memory.
import type { AdminServerConfig } from "./config/config.ts";
import type { AdminServer } from "./server.ts";

/**
 * Starts an admin server. Resolves when it listens; stop() ends it. Rejects with WorkerError `listen` when the
 * address cannot be used.
 */
export async function serve(config: AdminServerConfig): Promise<AdminServer> {
  const { createAdminServer } = await import("./server.ts");
  const server = await createAdminServer(config);
  await server.start();
  return server;
}
