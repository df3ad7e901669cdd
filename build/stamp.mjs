// Checks whether dist/ is up to date with the sources. The contents of the sources are compared, not their times,
// because a checkout changes the times. This file imports no package, because it may run before `npm ci`.
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { dist, root } from "./files.mjs";

const stamp = join(dist, ".stamp");

const INPUTS = [
  ...["src", "ui", "build", "build.mjs"],
  ...["package.json", "package-lock.json", "tsconfig.json", "tsconfig.types.json"],
];
const OUTPUTS = ["dist/worker.cjs", "dist/index.js", "dist/library", "dist/types/index.d.ts"];

/** Whether the library and the command were built from the present sources. */
export function isBuilt() {
  if (![stamp, ...OUTPUTS.map((path) => join(root, path))].every((path) => existsSync(path))) {
    return false;
  }
  return readFileSync(stamp, "utf8") === sourcesDigest();
}

/**
 * Whether the library, the command and the executable were built from the present sources. A build writes the
 * executable after the stamp, so the executable of the last build is newer than the stamp.
 */
export function isExecutableBuilt() {
  const executable = statSync(join(dist, "worker"), { throwIfNoEntry: false });
  return isBuilt() && executable !== undefined && executable.mtimeMs > statSync(stamp).mtimeMs;
}

/**
 * Runs a build, and then writes its stamp: a hash of the sources as they were before the build. After an edit during
 * the build, the hash of the sources therefore differs from the stamp.
 */
export async function stamped(build) {
  const digest = sourcesDigest();
  await rm(stamp, { force: true });
  await build();
  await mkdir(dist, { recursive: true });
  await writeFile(stamp, digest);
}

function sourcesDigest() {
  const hash = createHash("sha256");
  for (const path of INPUTS.flatMap(filesBelow)) {
    hash
      .update(`${path}\0`)
      .update(readFileSync(join(root, path)))
      .update("\0");
  }
  return hash.digest("hex");
}

/** Returns the files at or below `path`, sorted, without those that a build generates there. */
function filesBelow(path) {
  const found = statSync(join(root, path), { throwIfNoEntry: false });
  if (!found?.isDirectory()) return found === undefined ? [] : [path];
  return readdirSync(join(root, path))
    .filter((name) => name !== "generated")
    .sort()
    .flatMap((name) => filesBelow(`${path}/${name}`));
}
