// Detects changed, new and deleted files. Files are polled, because network and container mounts send no events.
import { statSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { wait } from "../../base/clock.ts";

const POLL_MS = 300;
/** Limits the wait for the end of changes: a log file may never stop changing. */
const MAX_SETTLING_POLLS = 10;
const MAX_FILES = 10_000;

/** The states of files by path. A state is empty if it cannot be read, for example because the file does not exist. */
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

  /** Watches one more file, from its present state on. */
  add(file: string): void {
    if (this.#seen.has(file) || this.#named.size >= MAX_FILES) return;
    this.#named.add(file);
    this.#seen.set(file, stateOf(file));
  }

  /** Reads the states with which waitForChange() compares later states. */
  async begin(): Promise<void> {
    this.#seen = await this.#states();
  }

  /**
   * Waits for a change of a file, and then for the end of the changes. Resolves to the path of a changed file, or to
   * null when `signal` aborts.
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
    // `#named` is read after the await, because add() may be called during the await.
    const paths = new Set([...this.#named, ...below.slice(0, MAX_FILES)]);
    return new Map([...paths].map((path) => [path, stateOf(path)]));
  }
}

function stateOf(path: string): string {
  try {
    const { mtimeMs, size, mode, ino } = statSync(path);
    return `${mtimeMs} ${size} ${mode} ${ino}`;
  } catch {
    return "";
  }
}

function firstDifference(one: States, other: States): string | null {
  const paths = [...one.keys(), ...other.keys()];
  return paths.find((path) => one.get(path) !== other.get(path)) ?? null;
}

/** Returns the paths of the files below the directory, except hidden files and folders, and node_modules. */
async function filesBelow(directory: string): Promise<string[]> {
  const entries = await readdir(directory, { withFileTypes: true }).catch(() => []);
  const shown = entries.filter(({ name }) => !name.startsWith(".") && name !== "node_modules");
  const files = shown.map(async (entry) => {
    const path = join(directory, entry.name);
    return entry.isDirectory() ? filesBelow(path) : [path];
  });
  return (await Promise.all(files)).flat();
}
