// Ends a process together with all processes of its process group.
import { readdirSync, readFileSync } from "node:fs";
import { monotonic, wait } from "../../base/clock.ts";
import { codeOf } from "../../base/errors.ts";

const POLL_MS = 20;
/** The time for processes to end after SIGKILL. */
const KILLED_MS = 1_000;

/**
 * Sends SIGTERM to the group. If the group has not ended after `killAfterMs`, sends SIGKILL and waits at most 1 s for
 * the end of the group. `pid`: the id of the group's first process, which is also the id of the group.
 */
export async function endGroup(pid: number, killAfterMs: number): Promise<void> {
  signalGroup(pid, "SIGTERM");
  if (await isGone(pid, killAfterMs)) return;
  signalGroup(pid, "SIGKILL");
  await isGone(pid, KILLED_MS);
}

const alive = new Set<number>();

/** Makes this process kill the group when this process exits. The returned function reverts that. */
export function endWithThisProcess(pid: number): () => void {
  if (alive.size === 0) process.on("exit", killAll);
  alive.add(pid);
  return () => {
    alive.delete(pid);
    if (alive.size === 0) process.off("exit", killAll);
  };
}

function killAll(): void {
  for (const pid of alive) signalGroup(pid, "SIGKILL");
}

/** Sends a signal to the group; 0 sends nothing. Returns false if the group has no processes, not even zombies. */
function signalGroup(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(-pid, signal);
  } catch (error) {
    return codeOf(error) === "EPERM"; // a process of the group has changed its user
  }
}

/**
 * Resolves to true once the group has no processes, or once /proc shows that all its processes are zombies. Resolves to
 * false after `limitMs`. Polls, because no event reports the end of a group.
 */
async function isGone(pid: number, limitMs: number): Promise<boolean> {
  const never = new AbortController().signal;
  let living: readonly string[] | null = null;
  // The clock ends the loop, not a number of rounds, because on a busy host a round takes longer than its wait.
  for (const endMs = monotonic() + limitMs; monotonic() < endMs; ) {
    if (!signalGroup(pid, 0)) return true;
    living = livingIn(pid, living ?? []);
    if (living?.length === 0) return true;
    await wait(POLL_MS, never);
  }
  return false;
}

/**
 * Returns the ids of processes of the group that are not zombies; null if there is no /proc. In a container, zombies
 * may stay forever, because often the container's first process does not wait for them as it should. `before`: the
 * result of the last call. If some of these processes still live, returns only them, and does not read all processes
 * of the machine, of which there may be thousands.
 */
function livingIn(group: number, before: readonly string[]): readonly string[] | null {
  const isLiving = (pid: string): boolean => {
    const [state, , itsGroup] = fieldsOf(pid);
    return Number(itsGroup) === group && state !== "Z" && state !== "X";
  };
  const still = before.filter(isLiving);
  if (still.length > 0) return still;
  try {
    return readdirSync("/proc").filter((name) => /^\d+$/.test(name) && isLiving(name));
  } catch {
    return null;
  }
}

/** Returns three fields of /proc/PID/stat: state, parent and group. The name before them may have any character. */
function fieldsOf(pid: string): readonly string[] {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "latin1");
    return text.slice(text.lastIndexOf(")") + 2).split(" ", 3);
  } catch {
    return []; // the process has ended
  }
}
