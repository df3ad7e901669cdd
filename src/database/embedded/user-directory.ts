// Finds a directory of the user in which a cache or state is kept between runs. PostgreSQL's programs are run from the
// cache, so a directory that another user could have prepared is refused.
import {
  accessSync,
  chmodSync,
  constants,
  existsSync,
  lstatSync,
  mkdirSync,
  statSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, isAbsolute, join } from "node:path";
import { codeOf, messageOf, WorkerError } from "../../base/errors.ts";
import { closedDirectory, serverAccount } from "./account.ts";

const PLACES = {
  cache: { variable: "XDG_CACHE_HOME", home: ".cache", system: "/var/cache" },
  state: { variable: "XDG_STATE_HOME", home: ".local/state", system: "/var/lib" },
} as const;

/**
 * Returns the first usable directory of this list, and creates it if it is missing. Throws WorkerError
 * (`embedded_server`) if none is usable.
 *
 * - `$XDG_CACHE_HOME/worker` or `$XDG_STATE_HOME/worker`
 * - `~/.cache/worker` or `~/.local/state/worker`; as root, `/var/cache/worker` or `/var/lib/worker`
 * - `<tmp>/worker-<uid>/<kind>`
 */
export function userDirectory(kind: keyof typeof PLACES): string {
  const refusals: string[] = [];
  for (const chain of candidates(kind)) {
    try {
      return prepare(chain);
    } catch (error) {
      refusals.push(messageOf(error));
    }
  }
  throw new WorkerError(
    "embedded_server",
    `no directory is usable for the PostgreSQL files; set ${PLACES[kind].variable} to one that you own (${refusals.join("; ")})`,
  );
}

/** Each candidate is a list of nested directories that must belong to this user, outermost first. */
function candidates(kind: keyof typeof PLACES): string[][] {
  const { variable, home, system } = PLACES[kind];
  const { [variable]: named, HOME } = process.env;
  const roots = [named];
  if (process.getuid?.() === 0) roots.push(system);
  else if (HOME) roots.push(join(HOME, home));
  const usable = roots.filter((root) => root !== undefined).filter(isAbsolute);
  const temporary = join(tmpdir(), `worker-${process.getuid?.() ?? "user"}`);
  return [...usable.map((root) => [join(root, "worker")]), [temporary, join(temporary, kind)]];
}

/** If this process runs as root, PostgreSQL's account (account.ts) must be able to enter the directories. */
function prepare(chain: string[]): string {
  const mode = process.getuid?.() === 0 ? 0o711 : 0o700;
  const [first = "", last = first] = chain;
  makeDirectories(dirname(first));
  for (const directory of chain) {
    makeDirectory(directory, mode);
    assertOurs(directory);
  }
  accessSync(last, constants.W_OK | constants.X_OK);
  const closed = closedDirectory(last, serverAccount());
  if (closed !== null) throw new Error(`${closed} cannot be entered by the account of PostgreSQL`);
  return last;
}

/**
 * Creates a directory and its missing parents. Returns the topmost directory that was missing; undefined: none was
 * missing. mkdirSync is not called with `recursive`, because that call never ends below /proc.
 */
export function makeDirectories(directory: string, mode?: number): string | undefined {
  const above = dirname(directory);
  const first =
    existsSync(directory) || existsSync(above) ? undefined : makeDirectories(above, mode);
  try {
    mkdirSync(directory, { mode });
    return first ?? directory;
  } catch (error) {
    if (codeOf(error) !== "EEXIST" || !statSync(directory).isDirectory()) throw error;
    return first;
  }
}

function makeDirectory(directory: string, mode: number): void {
  try {
    mkdirSync(directory, { mode });
    chmodSync(directory, mode);
  } catch (error) {
    if (codeOf(error) !== "EEXIST") throw error;
  }
}

function assertOurs(directory: string): void {
  const found = lstatSync(directory);
  if (!found.isDirectory()) throw new Error(`${directory} is not a directory`);
  if (process.getuid !== undefined && found.uid !== process.getuid()) {
    throw new Error(`${directory} belongs to user ${found.uid}`);
  }
  if ((found.mode & 0o022) !== 0) throw new Error(`${directory} is writable by others`);
}
