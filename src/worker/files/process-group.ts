// Ends a process together with all processes of its process group.
import { readdirSync, readFileSync } from "node:fs";
import { monotonic, wait } from "../../base/clock.ts";
import { codeOf } from "../../base/errors.ts";

const POLL_MS = 20;
/** The time for processes to end after SIGKILL. */
const KILLED_MS = 1_000;

/** Sends SIGTERM, and after `killAfterMs` SIGKILL unless the group is empty. Resolves when it is, at most 1 s later. */
export async function endGroup(pid: number, killAfterMs: number): Promise<void> {
  signalGroup(pid, "SIGTERM");
  if (await isGone(pid, killAfterMs)) return;
  signalGroup(pid, "SIGKILL");
  await isGone(pid, KILLED_MS);
}

const alive = new Set<number>();

/** Kills the group at the event `exit` of this process. The returned function cancels that. */
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

/** Sends a signal; 0 only tests. Returns false when the group is empty, even of zombies. */
function signalGroup(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(-pid, signal);
  } catch (error) {
    return codeOf(error) === "EPERM"; // a process of the group has changed its user
  }
}

/** Resolves to whether only zombies are left within the limit. Polls, because there is no event for that. */
async function isGone(pid: number, limitMs: number): Promise<boolean> {
  const never = new AbortController().signal;
  let living: readonly string[] | null = null;
  // The clock decides, because on a busy host a round takes longer than its wait.
  for (const endMs = monotonic() + limitMs; monotonic() < endMs; ) {
    if (!signalGroup(pid, 0)) return true;
    living = livingIn(pid, living ?? []);
    if (living?.length === 0) return true;
    await wait(POLL_MS, never);
  }
  return false;
}

/**
 * Returns processes of the group that are not zombies; null where there is no /proc. In a container zombies may stay:
 * the container's first process should remove them by waiting for them, and often does not. `before`: the result of
 * the last call. While one of these processes lives, the others on the machine, perhaps thousands, are not read.
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

/** Returns the fields of /proc/PID/stat after the name, which may have any character: state, parent and group. */
function fieldsOf(pid: string): readonly string[] {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "latin1");
    return text.slice(text.lastIndexOf(")") + 2).split(" ", 3);
  } catch {
    return []; // it has ended meanwhile
  }
}
