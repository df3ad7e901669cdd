// Makes a server listen at a target: an address, a path or a file descriptor. If that fails, the error's message
// contains advice for the usual causes.
import type { Server } from "node:net";
import { codeOf, messageOf, WorkerError } from "../../base/errors.ts";
import { type ListenTarget, targetText } from "./listen-target.ts";
import { startListening } from "./start-listening.ts";
import { listenOnPath } from "./unix-socket.ts";

/** Resolves once the server listens. Throws WorkerError `listen` if the server cannot listen. */
export async function listen(server: Server, target: ListenTarget): Promise<void> {
  // This event listener stays attached. Without it, a later error of the server would end the process.
  server.on("error", () => {});
  try {
    if ("path" in target) await listenOnPath(server, target);
    else await startListening(server, () => server.listen(target));
  } catch (error) {
    if (error instanceof WorkerError) throw error;
    throw new WorkerError("listen", sentence(error, target), { cause: error });
  }
}

function sentence(error: unknown, target: ListenTarget): string {
  const where = targetText(target);
  const advice = "path" in target ? ofPath : "fd" in target ? ofDescriptor : ofAddress;
  const text = advice[codeOf(error) ?? ""];
  return text === undefined
    ? `cannot listen on ${where}: ${messageOf(error)}`
    : text.replace("%", where);
}

const IN_USE = "% is in use; stop what listens there, or choose another address with listenAddr";

const ofAddress: Record<string, string> = {
  EADDRINUSE: IN_USE,
  EACCES: "the system does not allow listening on %; choose a port above 1023 with listenAddr",
  EADDRNOTAVAIL: "this machine has no address %; choose one of its own addresses with listenAddr",
  ENOTFOUND: "the host name of % cannot be resolved; choose an address with listenAddr",
};

const ofPath: Record<string, string> = {
  EADDRINUSE: IN_USE,
  EACCES:
    "the system does not allow a socket at %, because this user may not write to the directory; choose another directory with listenAddr",
  EPERM:
    "this user may not give the socket at % to the group; choose a group of this user with listenGroup",
  ENOTDIR: "a part of % is not a directory; choose another path with listenAddr",
  EROFS: "% is on a read-only file system; choose another path with listenAddr",
};

const NO_SOCKET =
  "% is not a listening socket of this process; pass an inherited socket with listenAddr";
const ofDescriptor: Record<string, string> = {
  EBADF: NO_SOCKET,
  EINVAL: NO_SOCKET,
  ENOTSOCK: NO_SOCKET,
  EOPNOTSUPP: NO_SOCKET,
};
