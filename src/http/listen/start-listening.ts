// Waits until a server listens.
import type { Server } from "node:net";

/** Calls `begin`. Resolves when the server listens, rejects if it cannot. */
export function startListening(server: Server, begin: () => void): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.once("listening", () => {
      server.off("error", reject);
      resolve();
    });
    begin();
  });
}
