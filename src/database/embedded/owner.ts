// Ensures that at most one running process of a machine or container owns a data directory.
//
// The symbolic links `owner.1`, `owner.2`, and so on record the owners. The target of a link is a text, not a path. The
// link with the highest number shows the present owner. Creating a link fails if the link exists. So if several
// processes find that the owner has ended, only one of them becomes the next owner.
//
//   owner.n → process ──exit, kill -9──▶ owner.n+1 → next process
//                     ──release───────▶ owner.n+1 → "released" ──▶ owner.n+2 → next process
import { readdirSync, readFileSync, readlinkSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { codeOf, messageOf, WorkerError } from "../../base/errors.ts";

export interface Ownership {
  /** The number of this owner's link. */
  readonly generation: number;
  /** Makes the directory available to the next owner. Idempotent. */
  release(): void;
}

const LINK = /^owner\.(\d{1,15})$/;
const RELEASED = "released";
const MAX_ATTEMPTS = 100;

/** Makes this process the owner of `directory`. Throws WorkerError if an owner runs, or no link can be created. */
export function claimDirectory(directory: string): Ownership {
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const latest = generationsIn(directory).at(-1) ?? 0;
    const owner = readOwner(directory, latest);
    if (owner !== null && isRunning(owner)) throw inUse(directory, owner);
    const generation = latest + 1;
    if (!createLink(directory, generation, processIdentity(process.pid))) continue;
    // If a link with a higher number exists, another process has become the owner since `latest` was read.
    if (generationsIn(directory).at(-1) !== generation) {
      rmSync(join(directory, `owner.${generation}`), { force: true });
      continue;
    }
    return ownership(directory, generation);
  }
  throw new WorkerError(
    "embedded_server",
    `many processes are opening ${directory} at once; start one of them again`,
  );
}

/** Whether this directory has or had an owner. */
export function hasOwner(directory: string): boolean {
  return generationsIn(directory).length > 0;
}

function ownership(directory: string, generation: number): Ownership {
  removeBelow(directory, generation);
  let released = false;
  return {
    generation,
    release() {
      if (released) return;
      released = true;
      // A deleted directory needs no release.
      try {
        if (createLink(directory, generation + 1, RELEASED)) removeBelow(directory, generation + 1);
      } catch (error) {
        if (codeOf(error) !== "ENOENT") throw error;
      }
    },
  };
}

function generationsIn(directory: string): number[] {
  const numbers = readdirSync(directory).map((name) => Number(LINK.exec(name)?.[1] ?? 0));
  return numbers.filter((number) => number > 0).sort((a, b) => a - b);
}

function readOwner(directory: string, generation: number): string | null {
  if (generation === 0) return null;
  try {
    return readlinkSync(join(directory, `owner.${generation}`));
  } catch (error) {
    if (codeOf(error) === "ENOENT") return null;
    throw error;
  }
}

/** Returns false if the link exists. */
function createLink(directory: string, generation: number, target: string): boolean {
  try {
    symlinkSync(target, join(directory, `owner.${generation}`));
    return true;
  } catch (error) {
    if (codeOf(error) === "EEXIST") return false;
    if (codeOf(error) === "ENOENT") throw error; // the directory was deleted
    throw new WorkerError(
      "embedded_server",
      `cannot write to the data directory ${directory} (${messageOf(error)}); make it writable, or choose another with --data-dir`,
      { cause: error },
    );
  }
}

function removeBelow(directory: string, generation: number): void {
  for (const lower of generationsIn(directory)) {
    if (lower < generation) rmSync(join(directory, `owner.${lower}`), { force: true });
  }
}

/** Returns `pid:start:boot`. A pid alone could be reused by another process. */
function processIdentity(pid: number): string {
  return `${pid}:${startTime(pid) ?? "?"}:${bootId()}`;
}

function isRunning(owner: string): boolean {
  const pid = Number(owner.split(":")[0]);
  if (!Number.isSafeInteger(pid) || pid <= 0 || !isAlive(pid)) return false;
  const start = startTime(pid);
  // Without a start time, another process that has got the owner's pid counts as the owner.
  return start === null || owner === `${pid}:${start}:${bootId()}`;
}

/** Whether a process with this id exists, of any user. If /proc can be read, a zombie does not count. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if (codeOf(error) !== "EPERM") return false;
  }
  return processStat(pid)?.[0] !== "Z";
}

/** Returns the start time in clock ticks after boot; null if unavailable. */
function startTime(pid: number): string | null {
  return processStat(pid)?.[19] ?? null;
}

/** Returns the fields of /proc/<pid>/stat after the command, which may contain spaces and brackets. */
function processStat(pid: number): string[] | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  } catch {
    return null;
  }
}

function bootId(): string {
  try {
    return readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
  } catch {
    return "?";
  }
}

function inUse(directory: string, owner: string): WorkerError {
  const [pid] = owner.split(":");
  return new WorkerError(
    "embedded_server",
    `the data directory ${directory} is in use by process ${pid}: stop that process, or choose another directory with --data-dir`,
  );
}
