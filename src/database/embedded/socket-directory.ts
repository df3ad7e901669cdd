// The directory of the server's unix socket. It is the access control: the server requires no password, and
// only the account that runs it (and root) can reach this directory.
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

// The size of sun_path is 108 bytes with its terminator on every Linux.
const MAX_PATH_BYTES = 107;
const PREFIX = "worker-pg-";

/**
 * Creates a private directory for the socket: `<dataDirectory>/socket`, or, if that path is too long for a socket, a
 * short one among the temporary files, to which `socket` is then a link, so that the next start finds it. The caller
 * owns the data directory.
 */
export function makeSocketDirectory(dataDirectory: string, account: Account): string {
  removeSocketDirectory(dataDirectory);
  const near = join(dataDirectory, "socket");
  let directory = near;
  if (Buffer.byteLength(socketPath(near)) <= MAX_PATH_BYTES) mkdirSync(near);
  else {
    directory = mkdtempSync(join(shortTemporaryDirectory(), PREFIX));
    symlinkSync(directory, near);
  }
  chmodSync(directory, 0o700);
  if (account !== null) chownSync(directory, account.uid, account.gid);
  return directory;
}

/** Removes the directory that makeSocketDirectory() created in this process, or in one that was killed. */
export function removeSocketDirectory(dataDirectory: string): void {
  const near = join(dataDirectory, "socket");
  if (lstatSync(near, { throwIfNoEntry: false })?.isSymbolicLink()) {
    const far = readlinkSync(near);
    const isOurs = basename(far).startsWith(PREFIX) && dirname(far) === shortTemporaryDirectory();
    if (isOurs) rmSync(far, { recursive: true, force: true });
  }
  rmSync(near, { recursive: true, force: true });
}

function socketPath(directory: string): string {
  return join(directory, `.s.PGSQL.${SOCKET_PORT}`);
}

function shortTemporaryDirectory(): string {
  const longest = socketPath(join(tmpdir(), `${PREFIX}XXXXXX`));
  return Buffer.byteLength(longest) <= MAX_PATH_BYTES ? tmpdir() : "/tmp";
}
