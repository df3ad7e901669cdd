// Which user PostgreSQL runs as. It refuses root, so a root process hands it to `nobody`; what is
// then out of that user's reach is said by name before PostgreSQL fails on it obscurely.
import { statSync } from "node:fs";
import { dirname, resolve } from "node:path";

/** The user and group of the server's processes; `null` = our own. */
export type Account = { readonly uid: number; readonly gid: number } | null;

const NOBODY = 65_534;

/** `nobody` when we are root, else ourselves. */
export function serverAccount(): Account {
  return process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : null;
}

/** The directory at or above `path` that `account` may not enter, or `null` when it reaches it. */
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
