// Ends a process together with all processes of its process group.
import { readdirSync, readFileSync } from "node:fs";
import { monotonic, wait } from "../../base/clock.ts";
import { codeOf } from "../../base/errors.ts";

const POLL_MS = 20;
const KILLED_MS = 1_000;

/**
 * Sends SIGTERM to the group. If the group has not ended after `killAfterMs`, sends SIGKILL and waits at most 1 s for
 * the group's end. `pid`: the id of the group's first process.
 */
export async function endGroup(pid: number, killAfterMs: number): Promise<void> {
  signalGroup(pid, "SIGTERM");
  if (await isGone(pid, killAfterMs)) return;
  signalGroup(pid, "SIGKILL");
  await isGone(pid, KILLED_MS);
}

const alive = new Set<number>();

/** Kills the group when this process exits, unless the returned function was called before. */
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

/** Returns false if the group has no processes, not even zombies. The signal 0 only tests this. */
function signalGroup(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(-pid, signal);
  } catch (error) {
    return codeOf(error) === "EPERM"; // a process of the group has changed its user
  }
}

// Polls, because no event reports the end of a group.
async function isGone(pid: number, limitMs: number): Promise<boolean> {
  const never = new AbortController().signal;
  let living: readonly string[] | null = null;
  for (const endMs = monotonic() + limitMs; monotonic() < endMs; ) {
    if (!signalGroup(pid, 0)) return true;
    living = livingIn(pid, living ?? []);
    if (living?.length === 0) return true;
    await wait(POLL_MS, never);
  }
  return false;
}

/**
 * Returns the ids of the group's living processes; null if there is no /proc. Zombies do not count, because in many
 * containers no process reaps them. If processes of `before`, the last result, still live, only these are returned,
 * because the machine may have thousands of others to read.
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

/** Returns state, parent and group. Before them is the process's name in parentheses, which may contain `)`. */
function fieldsOf(pid: string): readonly string[] {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "latin1");
    return text.slice(text.lastIndexOf(")") + 2).split(" ", 3);
  } catch {
    return []; // the process has ended
  }
}
