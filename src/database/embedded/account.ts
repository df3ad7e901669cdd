// The account that runs PostgreSQL. PostgreSQL refuses to run as root, so if this process runs as root, PostgreSQL runs
// with an unprivileged account. If this account may not enter a directory above PostgreSQL's files, PostgreSQL fails
// with an unclear error. closedDirectory() finds such a directory.
import { statSync } from "node:fs";
import { dirname, resolve } from "node:path";

/** The user and group of the server's processes; null: those of this process. */
export type Account = { readonly uid: number; readonly gid: number } | null;

const NOBODY = 65_534;

/** Returns an unprivileged account if this process runs as root, otherwise null. */
export function serverAccount(): Account {
  return process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : null;
}

/**
 * Returns the topmost directory at or above `path` that `account` may not enter; null if it may enter all. If `account`
 * is null, returns null without a check.
 */
export function closedDirectory(path: string, account: Account): string | null {
  if (account === null) return null;
  const closed: string[] = [];
  for (let at = resolve(path); ; at = dirname(at)) {
    const { mode, uid, gid } = statSync(at);
    const execute = uid === account.uid ? 0o100 : gid === account.gid ? 0o010 : 0o001;
    if ((mode & execute) === 0) closed.push(at);
    if (at === dirname(at)) break;
  }
  return closed.at(-1) ?? null;
}
