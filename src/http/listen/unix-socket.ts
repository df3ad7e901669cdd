// A socket in the file system, made so that nobody may connect before its mode says so. What a killed
// process has left there is replaced; what somebody listens on, and what is no socket, is left alone.
import { once } from "node:events";
import { type BigIntStats, chmodSync, chownSync, existsSync, lstatSync, unlinkSync } from "node:fs";
import net, { type Server } from "node:net";
import { dirname } from "node:path";
import { isMainThread } from "node:worker_threads";
import { wait } from "../../base/clock.ts";
import { codeOf, messageOf, WorkerError } from "../../base/errors.ts";
import type { UnixTarget } from "./listen-target.ts";
import { listening } from "./listening.ts";

/** Node removes the socket when the server is closed. */
export async function listenOnPath(server: Server, { path, mode, gid }: UnixTarget): Promise<void> {
  const left = await leftBehind(path);
  await listening(server, () => {
    if (left !== null && isSame(left, statsOf(path))) unlinkSync(path);
    // In a thread the mask cannot be changed: there it is the process's for a moment.
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

/** The socket that nobody listens on any more; null: there is nothing. Throws for anything else. */
async function leftBehind(path: string): Promise<BigIntStats | null> {
  const stats = statsOf(path);
  // Node says EACCES for a directory that is not there.
  if (stats === null && !existsSync(dirname(path))) {
    const message = `the directory of unix:${path} is not there; make it, or choose another path with listenAddr`;
    throw new WorkerError("listen", message);
  }
  if (stats === null) return null;
  if (!stats.isSocket()) throw taken(`${path} is there and is no socket`);
  let code = await knock(path);
  // Somebody may have made it and not listen yet.
  if (code === "ECONNREFUSED") {
    await wait(SETTLED_MS, new AbortController().signal);
    code = await knock(path);
  }
  if (code === "ECONNREFUSED" || code === "ENOENT") return stats;
  throw taken(
    code === null
      ? `unix:${path} is in use: somebody answers on it`
      : `unix:${path} is there, and whether somebody listens on it cannot be told (${code})`,
  );
}

/** null: somebody answers; else why not. */
async function knock(path: string): Promise<string | null> {
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

function taken(what: string): WorkerError {
  return new WorkerError("listen", `${what}; stop it, or choose another path with listenAddr`);
}

function statsOf(path: string): BigIntStats | null {
  return lstatSync(path, { bigint: true, throwIfNoEntry: false }) ?? null;
}

/** Another process may have replaced it meanwhile, and be given the same number. */
function isSame(one: BigIntStats, other: BigIntStats | null): boolean {
  return other !== null && one.ino === other.ino && one.ctimeNs === other.ctimeNs;
}
