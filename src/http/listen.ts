// Takes an address, or says in a sentence why it cannot be had.
import type { Server } from "node:net";
import { codeOf, messageOf, WorkerError } from "../base/errors.ts";

/** Throws WorkerError `listen`. */
export function listen(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    // It stays: an error that comes later must not end the process.
    server.on("error", (error) => reject(listenError(error, host, port)));
    server.listen({ host, port }, resolve);
  });
}

function listenError(error: Error, host: string, port: number): WorkerError {
  const where = `${host.includes(":") ? `[${host}]` : host}:${port}`;
  const advice: Record<string, string> = {
    EADDRINUSE: `${where} is in use; stop what listens there, or choose another address with --listen`,
    EACCES: `the system does not allow listening on ${where}; choose a port above 1023 with --listen`,
    EADDRNOTAVAIL: `this machine has no address ${host}; choose one of its own with --listen`,
    ENOTFOUND: `the host name ${host} is not known; choose an address with --listen`,
  };
  const sentence = advice[codeOf(error) ?? ""] ?? `cannot listen on ${where}: ${messageOf(error)}`;
  return new WorkerError("listen", sentence, { cause: error });
}
