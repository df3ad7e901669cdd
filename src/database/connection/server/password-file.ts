// Reads passwords from password files (PostgreSQL documentation, "The Password File"). Each line of such a file is
// host:port:database:user:password. The npm package pgpass is not used for this: with it, all connections of a process
// would have to use the same file, it prints warnings, and pg will stop using it.
import { readFile, stat } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { WorkerError } from "../../../base/errors.ts";

export interface Login {
  readonly host: string;
  readonly port: number;
  readonly database: string;
  readonly user: string;
}

const OTHERS = 0o077;

/**
 * Returns the password in the first line that matches the login and has a password; undefined if there is no such line,
 * or no file. `named`: the file's path, by default ~/.pgpass. Throws WorkerError if other users have access to the
 * file, because libpq does not use such a file, either. On Windows, access is not checked.
 */
export async function passwordOf(
  login: Login,
  named: string | undefined,
): Promise<string | undefined> {
  const file = named ?? join(homedir(), ".pgpass");
  const facts = await stat(file).catch(() => null);
  if (facts === null || !facts.isFile()) return undefined;
  if ((facts.mode & OTHERS) !== 0 && process.platform !== "win32") {
    const message = `the password file ${file} is open to other users; it is not used until you run chmod 600 on it`;
    throw new WorkerError("database_unreachable", message);
  }
  const text = await readFile(file, "utf8").catch(() => "");
  // For a Unix socket, `login.host` is a directory. A line for it has this directory or "localhost" as its host.
  const hosts = login.host.startsWith("/") ? [login.host, "localhost"] : [login.host];
  for (const line of text.split(/\r?\n/)) {
    if (line.startsWith("#")) continue;
    const [host = "", port, database, user, password] = fieldsOf(line);
    if (password === undefined || password === "") continue;
    const fits = (field: string | undefined, value: string) => field === "*" || field === value;
    const isHost = hosts.some((one) => fits(host, one));
    if (!isHost || !fits(port, String(login.port))) continue;
    if (fits(database, login.database) && fits(user, login.user)) return password;
  }
  return undefined;
}

/** Splits a line at its colons. Within a field, a backslash escapes the next character. */
function fieldsOf(line: string): readonly string[] {
  return [...line.matchAll(/(?:^|:)((?:[^:\\]|\\.)*)/g)].map(([, field = ""]) =>
    field.replaceAll(/\\(.)/g, "$1"),
  );
}
