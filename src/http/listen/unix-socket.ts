// Creates a unix socket. A socket that a killed process has left is replaced. If any other file is at the path, an
// error is thrown.
import { once } from "node:events";
import { type BigIntStats, chmodSync, chownSync, existsSync, lstatSync, unlinkSync } from "node:fs";
import net, { type Server } from "node:net";
import { dirname } from "node:path";
import { isMainThread } from "node:worker_threads";
import { wait } from "../../base/clock.ts";
import { codeOf, messageOf, WorkerError } from "../../base/errors.ts";
import type { UnixTarget } from "./listen-target.ts";
import { startListening } from "./start-listening.ts";

/** Listens on the socket. Node removes the socket's file when the server closes. */
export async function listenOnPath(server: Server, { path, mode, gid }: UnixTarget): Promise<void> {
  const left = await leftBehind(path);
  await startListening(server, () => {
    if (left !== null && isSame(left, statsOf(path))) unlinkSync(path);
    // The umask keeps other users from connecting before chmodSync(). A worker thread of Node cannot change the umask.
    const mask = isMainThread ? process.umask(0o177) : null;
    server.listen({ path });
    if (mask !== null) process.umask(mask);
  });
  try {
    if (gid !== null) chownSync(path, -1, gid);
    chmodSync(path, mode);
  } catch (error) {
    await new Promise((resolve) => server.close(resolve));
    throw error;
  }
}

const SETTLED_MS = 50;

/** Returns the stats of an abandoned socket; null if the path is free. Throws WorkerError if the path is unusable. */
async function leftBehind(path: string): Promise<BigIntStats | null> {
  const stats = statsOf(path);
  // Without this check, Node would report a missing directory as EACCES.
  if (stats === null && !existsSync(dirname(path))) {
    const message = `the directory of unix:${path} does not exist; create it, or choose another path with listenAddr`;
    throw new WorkerError("listen", message);
  }
  if (stats === null) return null;
  if (!stats.isSocket()) throw inUseError(`${path} exists and is not a socket`);
  let code = await connectError(path);
  // Another process may have created the socket just now and may not listen yet.
  if (code === "ECONNREFUSED") {
    await wait(SETTLED_MS, new AbortController().signal);
    code = await connectError(path);
  }
  if (code === "ECONNREFUSED" || code === "ENOENT") return stats;
  throw inUseError(
    code === null
      ? `unix:${path} is in use by another process`
      : `unix:${path} exists, and it is unclear whether it is in use (${code})`,
  );
}

/** Connects to the socket, and returns the error's code (or else its message); null: no error. */
async function connectError(path: string): Promise<string | null> {
  const socket = net.connect({ path });
  try {
    await once(socket, "connect");
    return null;
  } catch (error) {
    return codeOf(error) ?? messageOf(error);
  } finally {
    socket.destroy();
  }
}

function inUseError(what: string): WorkerError {
  return new WorkerError("listen", `${what}; free the path, or choose another one with listenAddr`);
}

function statsOf(path: string): BigIntStats | null {
  return lstatSync(path, { bigint: true, throwIfNoEntry: false }) ?? null;
}

/** Compares the times, too, because a new file may get the same inode. */
function isSame(one: BigIntStats, other: BigIntStats | null): boolean {
  return other !== null && one.ino === other.ino && one.ctimeNs === other.ctimeNs;
}
