// Detects changed, new, renamed and deleted files. The files are polled, because network and container mounts send no
// events about files.
import { statSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { wait } from "../../base/clock.ts";

const POLL_MS = 300;
/** Limits the wait for the end of changes: a file such as a log that a task writes may never stop changing. */
const MAX_SETTLING_POLLS = 10;
const MAX_FILES = 10_000;

/** The states of files by path. A state is a text of mtime, size, mode and inode; empty if the file does not exist. */
type States = Map<string, string>;

export class WatchedFiles {
  readonly #directory: string;
  readonly #named: Set<string>;
  #seen: States = new Map();

  /** Watches `files`, and the files below the directory, except hidden files and folders, and node_modules. */
  constructor(directory: string, files: readonly string[]) {
    this.#directory = directory;
    this.#named = new Set(files);
  }

  /**
   * Watches one more file, from its present state on. Does nothing if the file is watched already, or if the
   * constructor and earlier calls have named MAX_FILES files.
   */
  add(file: string): void {
    if (this.#seen.has(file) || this.#named.size >= MAX_FILES) return;
    this.#named.add(file);
    this.#seen.set(file, stateOf(file));
  }

  /** Reads the present states of the files. waitForChange() compares later states with these. */
  async begin(): Promise<void> {
    this.#seen = await this.#states();
  }

  /**
   * Waits until a file changes. Then waits until no file changes between two polls, for at most MAX_SETTLING_POLLS
   * polls. Resolves to the path of a changed file, or to null when `signal` aborts.
   */
  async waitForChange(signal: AbortSignal): Promise<string | null> {
    while (await wait(POLL_MS, signal)) {
      let states = await this.#states();
      const changed = firstDifference(states, this.#seen);
      if (changed === null) continue;
      for (let polls = 0; polls < MAX_SETTLING_POLLS; polls++) {
        if (!(await wait(POLL_MS, signal))) return null;
        const last = states;
        states = await this.#states();
        if (firstDifference(last, states) === null) break;
      }
      return changed;
    }
    return null;
  }

  async #states(): Promise<States> {
    const below = await filesBelow(this.#directory);
    // `#named` is read after the await, so that a file that add() adds during the await is among the states.
    const paths = new Set([...this.#named, ...below.slice(0, MAX_FILES)]);
    return new Map([...paths].map((path) => [path, stateOf(path)]));
  }
}

function stateOf(path: string): string {
  const found = statSync(path, { throwIfNoEntry: false });
  return found === undefined ? "" : `${found.mtimeMs} ${found.size} ${found.mode} ${found.ino}`;
}

/** Returns the path of a file whose states differ, or that is in only one map; null if there is none. */
function firstDifference(one: States, other: States): string | null {
  const paths = [...one.keys(), ...other.keys()];
  return paths.find((path) => one.get(path) !== other.get(path)) ?? null;
}

/** Returns the files below a directory. Leaves out the same files and folders as the search for tasks. */
async function filesBelow(directory: string): Promise<string[]> {
  const entries = await readdir(directory, { withFileTypes: true }).catch(() => []);
  const shown = entries.filter(({ name }) => !name.startsWith(".") && name !== "node_modules");
  const files = shown.map(async (entry) => {
    const path = join(directory, entry.name);
    return entry.isDirectory() ? filesBelow(path) : [path];
  });
  return (await Promise.all(files)).flat();
}
