// A process and all that it has started, as long as they stay in its process group: ended together.
import { readdirSync, readFileSync } from "node:fs";
import { wait } from "../../base/clock.ts";
import { codeOf } from "../../base/errors.ts";

const LOOK_MS = 20;
/** For a group that SIGKILL has ended to be gone. */
const LAST_BREATH_MS = 1_000;

/** SIGTERM; SIGKILL for who is left after `killAfterMs`. Resolves when nobody is left. */
export async function endGroup(pid: number, killAfterMs: number): Promise<void> {
  signalGroup(pid, "SIGTERM");
  if (await isGone(pid, killAfterMs)) return;
  signalGroup(pid, "SIGKILL");
  await isGone(pid, LAST_BREATH_MS);
}

const alive = new Set<number>();

/** Kills the group where this process ends first. Gives what says that it has ended. */
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

/** False when there is nobody in it. */
function signalGroup(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(-pid, signal);
  } catch (error) {
    return codeOf(error) === "EPERM"; // somebody who has become another user
  }
}

/** Nothing announces that a group is empty. */
async function isGone(pid: number, limitMs: number): Promise<boolean> {
  const never = new AbortController().signal;
  for (let waitedMs = 0; waitedMs < limitMs; waitedMs += LOOK_MS) {
    if (!signalGroup(pid, 0) || isDead(pid)) return true;
    await wait(LOOK_MS, never);
  }
  return false;
}

/**
 * Whether only dead processes are left, whose end nobody has asked for: in a container the first process
 * inherits them, and most programs know nothing of that duty.
 */
function isDead(group: number): boolean {
  try {
    const members = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
    return members.every((pid) => {
      const [state, , its] = fieldsOf(pid);
      return Number(its) !== group || state === "Z" || state === "X";
    });
  } catch {
    return false; // no Linux
  }
}

/** State, parent, group: what stands behind the name, which may hold anything. */
function fieldsOf(pid: string): readonly string[] {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "latin1");
    return text.slice(text.lastIndexOf(")") + 2).split(" ", 3);
  } catch {
    return []; // it has ended meanwhile
  }
}
