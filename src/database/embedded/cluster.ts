// Creates and opens the database cluster in a data directory. initdb creates the cluster in a draft directory, and the
// complete draft is renamed to `cluster`. So `cluster` is never incomplete, even after a crash.
//
//   <data directory>/ created with mode 0700; if this process is root, 0711, so that PostgreSQL's account can enter
//     owner.<n>   names the process that uses the directory (owner.ts)
//     cluster/    PGDATA, which belongs to the user that runs PostgreSQL, mode 0700
//     socket/     the directory of the Unix socket (socket-directory.ts)
import { chmodSync, chownSync, existsSync, mkdirSync, readdirSync } from "node:fs";
import { readFile, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { codeOf, messageOf, WorkerError } from "../../base/errors.ts";
import { type Account, closedDirectory } from "./account.ts";
import { hasOwner } from "./owner.ts";
import { run } from "./program.ts";
import { makeDirectories } from "./user-directory.ts";

const DRAFT = "cluster.draft-";
const INITDB_LIMIT_MS = 120_000;

/** Creates or checks the data directory. Throws WorkerError if the directory cannot be used. */
export function prepareDataDirectory(directory: string, account: Account): void {
  try {
    const made = makeDirectories(directory, 0o700);
    if (made === undefined && readdirSync(directory).length > 0 && !hasOwner(directory)) {
      throw new WorkerError(
        "embedded_server",
        `${directory} contains other files: choose an empty directory for the database`,
      );
    }
    if (account !== null) openUpTo(made ?? directory, directory);
  } catch (error) {
    if (error instanceof WorkerError) throw error;
    throw new WorkerError(
      "embedded_server",
      `cannot use the data directory ${directory} (${messageOf(error)}); choose another with --data-dir`,
      { cause: error },
    );
  }
  const closed = closedDirectory(directory, account);
  if (closed === null) return;
  throw new WorkerError(
    "embedded_server",
    `PostgreSQL does not run as root, and its account (user ${account?.uid}) may not enter ${closed}: choose a data directory elsewhere, or run this as another user`,
  );
}

/** Lets another account enter `directory` and the directories above it, up to `top`. */
function openUpTo(top: string, directory: string): void {
  for (let at = directory; ; at = dirname(at)) {
    chmodSync(at, 0o711);
    if (at === top || at === dirname(at)) return;
  }
}

/** Returns the path of PGDATA. initdb creates a missing PGDATA. The caller must own `directory` (owner.ts). */
export async function openCluster(options: {
  readonly directory: string;
  readonly generation: number;
  readonly binaries: string;
  readonly account: Account;
  readonly majorVersion: number;
  readonly dataChecksums: boolean;
  readonly signal: AbortSignal;
}): Promise<string> {
  const { directory, majorVersion } = options;
  const cluster = join(directory, "cluster");
  for (const name of readdirSync(directory)) {
    // rm() may fail if an initdb whose parent was killed still writes into its draft.
    if (name.startsWith(DRAFT))
      await rm(join(directory, name), { recursive: true }).catch(() => {});
  }
  if (!existsSync(cluster)) await makeCluster(cluster, options);
  const found = Number.parseInt(await readFile(join(cluster, "PG_VERSION"), "utf8"), 10);
  if (found === majorVersion) return cluster;
  throw new WorkerError(
    "embedded_server",
    `${directory} was created by PostgreSQL ${found}, and this is version ${majorVersion}: choose another directory, or move the data with pg_dump`,
  );
}

async function makeCluster(
  cluster: string,
  options: Parameters<typeof openCluster>[0],
): Promise<void> {
  const { directory, generation, binaries, account, majorVersion, dataChecksums, signal } = options;
  const draft = join(directory, `${DRAFT}${generation}`);
  mkdirSync(draft, { mode: 0o700 });
  if (account !== null) chownSync(draft, account.uid, account.gid);
  const program = join(binaries, "bin/initdb");
  // Since version 17, PostgreSQL has a Unicode locale that is the same on every system.
  const locale =
    majorVersion >= 17 ? ["--locale-provider=builtin", "--builtin-locale=C.UTF-8"] : [];
  // Before version 18, checksums are off by default, and initdb has no option to turn them off.
  const unchecked = majorVersion >= 18 ? ["--no-data-checksums"] : [];
  const checksums = dataChecksums ? ["--data-checksums"] : unchecked;
  const args = [
    ...["--pgdata", draft, "--username=postgres", "--auth=trust", "--encoding=UTF8"],
    ...["--locale=C", ...locale, ...checksums, "--no-instructions"],
  ];
  try {
    await run(program, args, { account, cwd: draft, limitMs: INITDB_LIMIT_MS, signal });
    await rename(draft, cluster);
  } catch (error) {
    await rm(draft, { recursive: true, force: true }).catch(() => {});
    if (codeOf(error) === "aborted") throw error;
    const hint = existsSync("/bin/sh")
      ? "initdb needs an entry for its user in /etc/passwd and about 60 MB of space"
      : "initdb needs /bin/sh, which this system lacks";
    throw new WorkerError("embedded_server", `cannot create a database in ${directory}: ${hint}`, {
      cause: error,
    });
  }
}
