// Writes the files of a build. Each is written under a temporary name and then renamed, so that no half-written file is
// visible. Files that take long to build are cached in dist/.cache.
import { createHash } from "node:crypto";
import { rmSync } from "node:fs";
import { mkdir, mkdtemp, readdir, rename, rm, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";

export const root = join(import.meta.dirname, "..");
export const dist = join(root, "dist");
const cache = join(dist, ".cache");

const drafts = [];
process.on("exit", () => {
  for (const draft of drafts) rmSync(draft, { recursive: true, force: true });
});

/** Ends the build with a one-sentence message. */
export function fail(message) {
  console.error(message);
  process.exit(1);
}

/**
 * Returns the path of the file or directory `kind-key` in the cache. If it does not exist, `make(path)` is called and
 * must write it at `path`. Then all other files and directories of the same kind are deleted from the cache.
 */
export async function cached(kind, key, make) {
  const name = `${kind}-${key}`;
  const path = join(cache, name);
  if (await exists(path)) return path;
  const draft = await temporary("cached");
  await make(join(draft, name));
  await rename(join(draft, name), path).catch(async (error) => {
    // Another build may have placed the same result there since the check above.
    if (!(await exists(path))) throw error;
  });
  for (const old of await readdir(cache)) {
    if (!old.startsWith(`${kind}-`) || old === name) continue;
    await rm(join(cache, old), { recursive: true, force: true });
  }
  return path;
}

/** Returns an empty directory in dist/.cache, which is removed when the process ends. */
export async function temporary(kind) {
  await mkdir(cache, { recursive: true });
  const draft = await mkdtemp(join(cache, `${kind}.`));
  drafts.push(draft);
  return draft;
}

export async function place(path, content, mode = 0o644) {
  await mkdir(dirname(path), { recursive: true });
  const draft = `${path}.${process.pid}.tmp`;
  await writeFile(draft, content, { mode });
  await rename(draft, path);
}

/**
 * Moves a file or directory to `path` and replaces what is there. If another build moves something to the same path at
 * the same time, the move is repeated, at most 100 times.
 */
export async function replace(draft, path) {
  for (let attempts = 100; ; attempts--) {
    try {
      await rm(path, { recursive: true, force: true });
      return await rename(draft, path);
    } catch (error) {
      if (attempts === 0 || !["ENOTEMPTY", "EEXIST"].includes(error.code)) throw error;
    }
  }
}

function exists(path) {
  return stat(path).then(
    () => true,
    () => false,
  );
}

export function sha256(content, encoding) {
  return createHash("sha256").update(content).digest(encoding);
}
