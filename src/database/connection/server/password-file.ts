// Password files (PostgreSQL documentation, "The Password File"): host:port:database:user:password a line.
// Own code, because pgpass knows one file, warns past every logger, and pg will not have it for long.
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
 * The password of the first line that fits; undefined where none does. Throws WorkerError for a file
 * that others may read, which is not used, as with libpq.
 */
export async function passwordOf(
  login: Login,
  named: string | undefined,
): Promise<string | undefined> {
  const file = named ?? join(homedir(), ".pgpass");
  const facts = await stat(file).catch(() => null);
  if (facts === null || !facts.isFile()) return undefined;
  if ((facts.mode & OTHERS) !== 0 && process.platform !== "win32") {
    const message = `the password file ${file} may be read by others; chmod 600 it, until then it is not used`;
    throw new WorkerError("database_unreachable", message);
  }
  const text = await readFile(file, "utf8").catch(() => "");
  // A socket's host is a directory; in these files it is "localhost" unless it is said.
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

/** Split at colons; one of a field's own, and a backslash, has a backslash before it. */
function fieldsOf(line: string): readonly string[] {
  return [...line.matchAll(/(?:^|:)((?:[^:\\]|\\.)*)/g)].map(([, field = ""]) =>
    field.replaceAll(/\\(.)/g, "$1"),
  );
}
