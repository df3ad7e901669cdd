// The directory of the embedded server's Unix socket. The directory controls access to the server: the server requires
// no password, and only root and the server's account can enter the directory.
import {
  chmodSync,
  chownSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readlinkSync,
  rmSync,
  symlinkSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import type { Account } from "./account.ts";

export const SOCKET_PORT = 5432;

// On Linux, the path in the address of a socket (sun_path) has at most 108 bytes, including the terminator.
const MAX_PATH_BYTES = 107;
const PREFIX = "worker-pg-";

/**
 * Creates a private directory for the socket, and returns its path: `<dataDirectory>/socket`, or a temporary directory
 * if the socket's path would be too long. In this case `<dataDirectory>/socket` is a link, so that the next start can
 * remove the temporary directory. The caller must own the data directory (owner.ts).
 */
export function makeSocketDirectory(dataDirectory: string, account: Account): string {
  removeSocketDirectory(dataDirectory);
  const path = join(dataDirectory, "socket");
  let directory = path;
  if (Buffer.byteLength(socketPath(path)) <= MAX_PATH_BYTES) mkdirSync(path);
  else {
    directory = mkdtempSync(join(shortTemporaryDirectory(), PREFIX));
    symlinkSync(directory, path);
  }
  chmodSync(directory, 0o700);
  if (account !== null) chownSync(directory, account.uid, account.gid);
  return directory;
}

/** Removes the directory that makeSocketDirectory() created in this process or in an earlier one. */
export function removeSocketDirectory(dataDirectory: string): void {
  const path = join(dataDirectory, "socket");
  if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink()) {
    const target = readlinkSync(path);
    const isOurs =
      basename(target).startsWith(PREFIX) && dirname(target) === shortTemporaryDirectory();
    if (isOurs) rmSync(target, { recursive: true, force: true });
  }
  rmSync(path, { recursive: true, force: true });
}

function socketPath(directory: string): string {
  return join(directory, `.s.PGSQL.${SOCKET_PORT}`);
}

function shortTemporaryDirectory(): string {
  const longest = socketPath(join(tmpdir(), `${PREFIX}XXXXXX`));
  return Buffer.byteLength(longest) <= MAX_PATH_BYTES ? tmpdir() : "/tmp";
}
