// The moment in which a server listens, as a promise.
import type { Server } from "node:net";

/** Resolves when the server listens, rejects when it cannot; `begin` has it begin. */
export function listening(server: Server, begin: () => void): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.once("listening", () => {
      server.off("error", reject);
      resolve();
    });
    begin();
  });
}
