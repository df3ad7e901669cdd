// Waits until a server listens.
import type { Server } from "node:net";

/** Calls `begin`, which calls server.listen(). Resolves when the server listens; rejects with the server's error. */
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
