// Reads the CPU time of a PostgreSQL server from /proc. It is the sum of the times of the postmaster, of its running
// child processes, and of its child processes that have ended.
import { readdirSync, readFileSync } from "node:fs";

const TICKS_PER_S = 100;

interface ProcessTimes {
  readonly parent: number;
  readonly own: number;
  readonly finishedChildren: number;
}

/**
 * Returns the CPU time since the server's start, in seconds. `postmaster`: the id of the server's main process.
 * `except`: the ids of running child processes whose time is left out.
 */
export function postgresCpu_s(postmaster: number, except: readonly number[] = []): number {
  const times = processTimes(postmaster);
  if (times === null) throw new Error(`no process ${postmaster}`);
  let ticks = times.own + times.finishedChildren;
  for (const name of readdirSync("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    if (except.includes(Number(name))) continue;
    const child = processTimes(Number(name));
    if (child?.parent === postmaster) ticks += child.own;
  }
  return ticks / TICKS_PER_S;
}

function processTimes(pid: number): ProcessTimes | null {
  let text: string;
  try {
    text = readFileSync(`/proc/${pid}/stat`, "utf8");
  } catch {
    return null;
  }
  // The second field is the program's name in parentheses. It may contain spaces, so only the text after it is split.
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  const field = (place: number) => Number(fields[place]);
  return {
    parent: field(1),
    own: field(11) + field(12),
    finishedChildren: field(13) + field(14),
  };
}
