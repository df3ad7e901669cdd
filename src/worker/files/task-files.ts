// Finds the files of a directory that are tasks, by Graphile Worker's rules. A task's identifier is its path without
// extensions: mail/send.ts is the task mail/send.
import { constants } from "node:fs";
import { access, open, readdir, realpath, stat } from "node:fs/promises";
import { basename, dirname, extname, join, posix, resolve } from "node:path";
import { codeOf, InputError, messageOf, type Problem } from "../../base/errors.ts";

export const MODULE_EXTENSIONS = [".js", ".mjs", ".cjs", ".ts", ".mts"] as const;

export interface TaskFile {
  readonly identifier: string;
  /** The path below the directory. */
  readonly name: string;
  /**
   * The absolute path. In the path of a program, links are not resolved: Kubernetes may replace the target of a link
   * while the worker runs.
   */
  readonly path: string;
  readonly kind: "module" | "program";
}

/** A file or folder that is not a task, and the reason. */
export interface IgnoredFile {
  readonly name: string;
  readonly reason: string;
}

export interface FoundFiles {
  readonly tasks: readonly TaskFile[];
  readonly ignored: readonly IgnoredFile[];
  /** Tasks, and folders with tasks, to which every user of the machine can write; "." is the directory itself. */
  readonly openToAll: readonly string[];
  /** One problem for each identifier that several files have. */
  readonly problems: readonly Problem[];
}

const MAX_FILES = 10_000;
const DEEPEST = 32;
const FOLDER = /^[A-Za-z0-9_-]+$/;
const FILE = /^([A-Za-z0-9_-]+)((?:\.[A-Za-z0-9_-]+)*)$/;
const NAME = "its name must have only letters, digits, _ and -";

/** Finds tasks. Rejects with InputError if the directory cannot be read or has more than 10,000 files. */
export async function findTaskFiles(directory: string): Promise<FoundFiles> {
  await assertDirectory(directory);
  const names = await namesIn(directory);
  const found: (TaskFile | IgnoredFile)[] = await Promise.all(
    names.map((name) => examine(directory, name)),
  );
  const tasks = await withoutCompanions(found.filter((one) => "path" in one));
  // A file that differs from a task only in its extensions, such as a source map, is not listed as ignored.
  const taskNames = new Set(tasks.map(({ identifier }) => identifier));
  const ignored = found
    .filter((one) => "reason" in one)
    .filter(({ name }) => !taskNames.has(withoutExtensions(name)));
  const open = await openToAll(directory, tasks);
  return { tasks, ignored, openToAll: open, problems: sameNames(tasks) };
}

const WRITE_BY_ALL = 0o002;

async function openToAll(directory: string, tasks: readonly TaskFile[]): Promise<string[]> {
  // Files have no modes on Windows.
  if (process.platform === "win32") return [];
  const folders = tasks.flatMap(({ name }) => foldersOf(name));
  const open: string[] = [];
  for (const name of new Set([".", ...folders, ...tasks.map(({ name }) => name)])) {
    const { mode } = await stat(join(directory, name));
    if ((mode & WRITE_BY_ALL) !== 0) open.push(name);
  }
  return open;
}

/** `a/b/c.ts` → `a/b`, `a` */
function foldersOf(name: string): string[] {
  const folder = dirname(name);
  return folder === "." ? [] : [folder, ...foldersOf(folder)];
}

/** `folder/name.test.js` → `folder/name` */
function withoutExtensions(name: string): string {
  const dot = name.indexOf(".", name.lastIndexOf("/") + 1);
  return dot < 0 ? name : name.slice(0, dot);
}

async function assertDirectory(directory: string): Promise<void> {
  const fail = (message: string) => {
    throw new InputError([{ path: "tasks", message }]);
  };
  try {
    if (!(await stat(directory)).isDirectory()) fail(`"${directory}" is not a directory`);
  } catch (error) {
    if (error instanceof InputError) throw error;
    if (codeOf(error) === "ENOENT") fail(`the directory "${directory}" does not exist`);
    fail(`"${directory}" cannot be read: ${messageOf(error)}`);
  }
}

/**
 * Returns the files in and below a folder. A symbolic link to a folder counts as a file. A path with a slash at the end
 * is a folder that was not entered.
 */
async function namesIn(directory: string, folder = "", depth = 0): Promise<string[]> {
  const names: string[] = [];
  const entries = await readdir(join(directory, folder), { withFileTypes: true }).catch(
    (error: unknown) => {
      const message = `"${join(directory, folder)}" cannot be read: ${messageOf(error)}`;
      throw new InputError([{ path: "tasks", message }]);
    },
  );
  for (const entry of entries.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
    const name = posix.join(folder, entry.name);
    if (entry.name.startsWith(".") || entry.name === "node_modules") continue;
    if (!entry.isDirectory()) names.push(name);
    else if (depth < DEEPEST && FOLDER.test(entry.name)) {
      names.push(...(await namesIn(directory, name, depth + 1)));
    } else names.push(`${name}/`);
    if (names.length > MAX_FILES) {
      throw new InputError([{ path: "tasks", message: `more than ${MAX_FILES} files` }]);
    }
  }
  return names;
}

async function examine(directory: string, name: string): Promise<TaskFile | IgnoredFile> {
  const base = name.slice(name.lastIndexOf("/") + 1);
  if (base === "" && FOLDER.test(basename(name))) {
    return { name, reason: `it is more than ${DEEPEST} folders deep` };
  }
  const [, stem, extension = ""] = FILE.exec(base) ?? [];
  if (stem === undefined) return { name, reason: NAME };
  const identifier = name.slice(0, name.length - base.length) + stem;
  try {
    const path = resolve(directory, name);
    if (!(await stat(path)).isFile()) return { name, reason: "it is not a file" };
    if (isModule(extension)) {
      return { identifier, name, path: await realpath(path), kind: "module" };
    }
    const isExecutable = await access(path, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (isExecutable) return { identifier, name, path, kind: "program" };
    const extensions = MODULE_EXTENSIONS.join(" ");
    const hint = extname(name) === ".tsx" ? "; JSX is not compiled here" : "";
    const reason = `it is not executable, and has no single extension of ${extensions}${hint}`;
    return { name, reason };
  } catch (error) {
    return { name, reason: `it cannot be read: ${messageOf(error)}` };
  }
}

const isModule = (extension: string) =>
  (MODULE_EXTENSIONS as readonly string[]).includes(extension);

/**
 * If several files have one identifier, keeps only modules and files that begin as programs, unless there are none.
 * Without file modes, every file is executable, even a source map.
 */
async function withoutCompanions(files: readonly TaskFile[]): Promise<TaskFile[]> {
  const groups = [...Map.groupBy(files, ({ identifier }) => identifier).values()];
  const kept = groups.map(async (group) => {
    if (group.length === 1) return group;
    const runs = await Promise.all(
      group.map(async ({ kind, path }) => kind === "module" || (await beginsAsProgram(path))),
    );
    return runs.includes(true) ? group.filter((_, at) => runs[at]) : group;
  });
  return (await Promise.all(kept)).flat();
}

/** The first bytes, in hexadecimal, of scripts and of executables for Linux, macOS and Windows. */
const BEGINNINGS = ["2321", "7f454c46", "cafebabe", "cffaedfe", "cefaedfe", "4d5a"];

/** An executable file that cannot be read counts as a program. */
async function beginsAsProgram(path: string): Promise<boolean> {
  const file = await open(path).catch((error: unknown) => {
    if (codeOf(error) === "EACCES") return null;
    throw error;
  });
  if (file === null) return true;
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(4));
    const start = buffer.subarray(0, bytesRead).toString("hex");
    return BEGINNINGS.some((one) => start.startsWith(one));
  } finally {
    await file.close();
  }
}

function sameNames(tasks: readonly TaskFile[]): Problem[] {
  const groups = [...Map.groupBy(tasks, ({ identifier }) => identifier)];
  return groups
    .filter(([, files]) => files.length > 1)
    .map(([identifier, files]) => ({
      path: "tasks",
      message: `several files are the task "${identifier}": ${files.map(({ name }) => name).join(", ")}`,
    }));
}
