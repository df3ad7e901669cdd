// Finds the files of a PostgreSQL distribution that the server needs, and installs them in a directory. The files are
// written into a draft directory, which is renamed at the end, so that a crash leaves no incomplete installation.
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { codeOf } from "../../base/errors.ts";
import { isAlive } from "./owner.ts";

/** A file of the server. `path` is relative to the server's root directory. */
export interface ServerFile {
  readonly path: string;
  readonly mode: number;
  readonly size: number;
  read(): Uint8Array;
}

/** A link that the install script of the npm package with PostgreSQL would create: `target` points to `source`. */
export interface PackagedLink {
  readonly source: string;
  readonly target: string;
}

// Languages such as plperl are unneeded, because their interpreters are missing.
const UNNEEDED = [
  /\.a$/,
  /^lib\/(pkgconfig|postgresql\/pgxs)\//,
  /^lib\/lib(ecpg|pgtypes)/,
  /^bin\/pg_ctl$/,
  /(plperl|plpython|pltcl)/,
  /^(include|share\/(doc|man))\//,
  /^pg-symlinks\.json$/,
];

/** Returns the npm package's list of links, as paths below `root`. The list is empty for other distributions. */
export function packagedLinks(root: string): PackagedLink[] {
  let text: string;
  try {
    text = readFileSync(join(root, "pg-symlinks.json"), "utf8");
  } catch (error) {
    if (codeOf(error) === "ENOENT") return [];
    throw error;
  }
  const links = JSON.parse(text) as PackagedLink[];
  const below = (path: string) => path.replace(/^native\//, "");
  return links.map(({ source, target }) => ({ source: below(source), target: below(target) }));
}

/**
 * Returns the files that the server needs, sorted, without links. If the loader's name of a library (`libpq.so.5`) is
 * the name of a link, the library is returned under that name.
 */
export function serverFiles(root: string): ServerFile[] {
  const names = new Map<string, string>();
  for (const { source, target } of packagedLinks(root)) {
    if (/\.so\.\d+$/.test(target)) names.set(source, target);
  }
  const found = readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1))
    .filter((path) => !UNNEEDED.some((pattern) => pattern.test(path)));
  const files = found.map((path) => {
    const source = join(root, path);
    const { mode, size } = statSync(source);
    const executable = (mode & 0o100) !== 0;
    const read = () => readFileSync(source);
    return { path: names.get(path) ?? path, mode: executable ? 0o755 : 0o644, size, read };
  });
  return files.sort((a, b) => (a.path < b.path ? -1 : 1));
}

/** Copies `files` to `<parent>/<name>`, unless all of them exist there in the same sizes. Returns this path. */
export function installFiles(parent: string, name: string, files: readonly ServerFile[]): string {
  const target = join(parent, name);
  if (isComplete(target, files)) return target;
  removeAbandoned(parent);
  const draft = mkdtempSync(join(parent, `draft.${process.pid}.`));
  try {
    writeFiles(draft, files);
    chmodSync(draft, 0o755);
    for (let attempt = 0; attempt < 3; attempt++) {
      if (moveInto(draft, target)) return target;
      // `target` exists. Either another process has just completed it, or an installation there is incomplete.
      if (isComplete(target, files)) return target;
      moveInto(target, join(parent, `draft.${process.pid}.${attempt}.ruin`));
    }
    throw new Error(`cannot replace ${target}`);
  } finally {
    rmSync(draft, { recursive: true, force: true });
    removeAbandoned(parent);
  }
}

function writeFiles(root: string, files: readonly ServerFile[]): void {
  const made = new Set<string>();
  for (const file of files) {
    const path = join(root, file.path);
    if (!made.has(dirname(path))) mkdirSync(dirname(path), { recursive: true, mode: 0o755 });
    made.add(dirname(path));
    writeFileSync(path, file.read(), { mode: file.mode });
    chmodSync(path, file.mode);
  }
}

function isComplete(root: string, files: readonly ServerFile[]): boolean {
  return files.every((file) => {
    const found = statSync(join(root, file.path), { throwIfNoEntry: false });
    return found?.isFile() === true && found.size === file.size;
  });
}

function moveInto(from: string, to: string): boolean {
  try {
    renameSync(from, to);
    return true;
  } catch (error) {
    if (["EEXIST", "ENOTEMPTY", "ENOENT"].includes(codeOf(error) ?? "")) return false;
    throw error;
  }
}

/** Removes drafts of processes that ended during the copy, and replaced directories (`.ruin`). */
function removeAbandoned(parent: string): void {
  for (const name of readdirSync(parent)) {
    const [, pid, ruin] = /^draft\.(\d+)\..*?(\.ruin)?$/.exec(name) ?? [];
    if (pid === undefined || (isAlive(Number(pid)) && ruin === undefined)) continue;
    rmSync(join(parent, name), { recursive: true, force: true });
  }
}
