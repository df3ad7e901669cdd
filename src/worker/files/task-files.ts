// Which files of a directory are tasks, and what each is called, by Graphile Worker's rules: the path
// without the extension, so mail/send.ts is the task mail/send. A module is known by its extension,
// a program by its executable bit; anything else is not a task.
import { constants } from "node:fs";
import { access, open, readdir, realpath, stat } from "node:fs/promises";
import { dirname, extname, join, resolve } from "node:path";
import { codeOf, InputError, messageOf, type Problem } from "../../base/errors.ts";

/** What a module may end in. */
export const MODULE_EXTENSIONS = [".js", ".mjs", ".cjs", ".ts", ".mts"] as const;

export interface TaskFile {
  readonly identifier: string;
  /** Below the directory, for people. */
  readonly name: string;
  /**
   * Absolute. Of a module with no link in it, as Node loads it; of a program as it was given: what a link
   * points to may be replaced while the worker runs, as Kubernetes does with a ConfigMap.
   */
  readonly path: string;
  readonly kind: "module" | "program";
}

/** A file that is no task, and why. */
export interface IgnoredFile {
  readonly name: string;
  readonly reason: string;
}

export interface FoundFiles {
  readonly tasks: readonly TaskFile[];
  readonly ignored: readonly IgnoredFile[];
  /** Tasks and folders that every user of the machine may write to: "." is the directory. */
  readonly openToAll: readonly string[];
  /** Of files that have the same name. */
  readonly problems: readonly Problem[];
}

const MOST_FILES = 10_000;
const DEEPEST = 32;
const FOLDER = /^[A-Za-z0-9_-]+$/;
const FILE = /^([A-Za-z0-9_-]+)((?:\.[A-Za-z0-9_-]+)*)$/;
const NAME = "its name has more than letters, digits, _ and - in it";

/** Throws InputError when there is no such directory, or it cannot be read. */
export async function findTaskFiles(directory: string): Promise<FoundFiles> {
  await assertDirectory(directory);
  const names = await namesIn(directory);
  const found: (TaskFile | IgnoredFile)[] = await Promise.all(
    names.map((name) => look(directory, name)),
  );
  const tasks = await withoutCompanions(found.filter((one) => "path" in one));
  // What stands beside a task under its name, such as a source map, belongs to it.
  const known = new Set(tasks.map(({ identifier }) => identifier));
  const ignored = found
    .filter((one) => "reason" in one)
    .filter(({ name }) => !known.has(withoutExtensions(name)));
  const open = await openToAll(directory, tasks);
  return { tasks, ignored, openToAll: open, problems: sameNames(tasks) };
}

const WRITE_BY_ALL = 0o002;

async function openToAll(directory: string, tasks: readonly TaskFile[]): Promise<string[]> {
  // Files have no modes there.
  if (process.platform === "win32") return [];
  const folders = tasks.flatMap(({ name }) => foldersOf(name));
  const open: string[] = [];
  for (const name of new Set([".", ...folders, ...tasks.map(({ name }) => name)])) {
    const { mode } = await stat(join(directory, name));
    if ((mode & WRITE_BY_ALL) !== 0) open.push(name);
  }
  return open;
}

/** `a/b/c.ts` → `a/b`, `a`. */
function foldersOf(name: string): string[] {
  const folder = dirname(name);
  return folder === "." ? [] : [folder, ...foldersOf(folder)];
}

/** `folder/name.test.js` → `folder/name`. */
function withoutExtensions(name: string): string {
  const dot = name.indexOf(".", name.lastIndexOf("/") + 1);
  return dot < 0 ? name : name.slice(0, dot);
}

async function assertDirectory(directory: string): Promise<void> {
  const say = (message: string) => {
    throw new InputError([{ path: "tasks", message }]);
  };
  try {
    if (!(await stat(directory)).isDirectory()) say(`"${directory}" is no directory`);
  } catch (error) {
    if (error instanceof InputError) throw error;
    if (codeOf(error) === "ENOENT") say(`there is no directory "${directory}"`);
    say(`"${directory}" cannot be read: ${messageOf(error)}`);
  }
}

/** All files, sorted. Hidden ones, packages and linked folders are left out. */
async function namesIn(directory: string, folder = "", depth = 0): Promise<string[]> {
  const names: string[] = [];
  const entries = await readdir(join(directory, folder), { withFileTypes: true }).catch(
    (error: unknown) => {
      const message = `"${join(directory, folder)}" cannot be read: ${messageOf(error)}`;
      throw new InputError([{ path: "tasks", message }]);
    },
  );
  for (const entry of entries.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
    const name = join(folder, entry.name);
    if (entry.name.startsWith(".") || entry.name === "node_modules") continue;
    if (!entry.isDirectory()) names.push(name);
    else if (depth < DEEPEST && FOLDER.test(entry.name)) {
      names.push(...(await namesIn(directory, name, depth + 1)));
    }
    if (names.length > MOST_FILES) {
      throw new InputError([{ path: "tasks", message: `more than ${MOST_FILES} files` }]);
    }
  }
  return names;
}

async function look(directory: string, name: string): Promise<TaskFile | IgnoredFile> {
  const base = name.slice(name.lastIndexOf("/") + 1);
  const [, stem, extension = ""] = FILE.exec(base) ?? [];
  if (stem === undefined) return { name, reason: NAME };
  const identifier = name.slice(0, name.length - base.length) + stem;
  try {
    const path = resolve(directory, name);
    if (!(await stat(path)).isFile()) return { name, reason: "it is no file" };
    if (isModule(extension)) {
      return { identifier, name, path: await realpath(path), kind: "module" };
    }
    await access(path, constants.X_OK);
    return { identifier, name, path, kind: "program" };
  } catch (error) {
    if (codeOf(error) !== "EACCES") return { name, reason: messageOf(error) };
    const known = MODULE_EXTENSIONS.join(" ");
    const hint = extname(name) === ".tsx" ? "; JSX is not compiled here" : "";
    return { name, reason: `it is neither executable nor one of ${known}${hint}` };
  }
}

const isModule = (extension: string) =>
  (MODULE_EXTENSIONS as readonly string[]).includes(extension);

/**
 * Where every file is executable, as on mounts without modes, source maps and types beside a task look like
 * programs: of several files of one name those count that can be run by what they begin with.
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

/** A script's first line, and the first bytes of the executables of Linux, macOS and Windows. */
const BEGINNINGS = ["2321", "7f454c46", "cafebabe", "cffaedfe", "cefaedfe", "4d5a"];

async function beginsAsProgram(path: string): Promise<boolean> {
  const file = await open(path);
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
      message: `more than one file is the task "${identifier}": ${files.map(({ name }) => name).join(", ")}`,
    }));
}
