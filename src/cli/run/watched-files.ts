// Detects changed, renamed and new files, and changed modes. It polls, because network and container mounts send no
// events about files.
import { statSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { wait } from "../../base/clock.ts";

const POLL_MS = 300;
const MAX_FILES = 10_000;

/** The states of files by path. A state is a text that differs after any change of the file. */
type States = Map<string, string>;

export class WatchedFiles {
  readonly #directory: string;
  readonly #named: Set<string>;
  #seen: States = new Map();

  /** Watches all files below the directory, and `files`. */
  constructor(directory: string, files: readonly string[]) {
    this.#directory = directory;
    this.#named = new Set(files);
  }

  /** Adds a file in its present state. */
  add(file: string): void {
    if (this.#seen.has(file) || this.#named.size >= MAX_FILES) return;
    this.#named.add(file);
    this.#seen.set(file, stateOf(file));
  }

  /** Reads the present states, with which waitForChange() compares. */
  async begin(): Promise<void> {
    this.#seen = await this.#states();
  }

  /** Resolves when something has changed and then stayed unchanged for a moment, or when `signal` aborts. */
  async waitForChange(signal: AbortSignal): Promise<void> {
    while (await wait(POLL_MS, signal)) {
      let states = await this.#states();
      if (isSame(states, this.#seen)) continue;
      for (let last: States = new Map(); !isSame(last, states); ) {
        if (!(await wait(POLL_MS, signal))) return;
        last = states;
        states = await this.#states();
      }
      return;
    }
  }

  async #states(): Promise<States> {
    const below = await filesBelow(this.#directory);
    // Files may be added during the wait.
    const paths = new Set([...this.#named, ...below.slice(0, MAX_FILES)]);
    return new Map([...paths].map((path) => [path, stateOf(path)]));
  }
}

function stateOf(path: string): string {
  const found = statSync(path, { throwIfNoEntry: false });
  return found === undefined ? "" : `${found.mtimeMs} ${found.size} ${found.mode} ${found.ino}`;
}

function isSame(one: States, other: States): boolean {
  return one.size === other.size && [...one].every(([path, state]) => other.get(path) === state);
}

/** Returns the files below a directory, without hidden ones and packages, as the search for tasks does. */
async function filesBelow(directory: string): Promise<string[]> {
  const entries = await readdir(directory, { withFileTypes: true }).catch(() => []);
  const shown = entries.filter(({ name }) => !name.startsWith(".") && name !== "node_modules");
  const files = shown.map(async (entry) => {
    const path = join(directory, entry.name);
    return entry.isDirectory() ? filesBelow(path) : [path];
  });
  return (await Promise.all(files)).flat();
}
