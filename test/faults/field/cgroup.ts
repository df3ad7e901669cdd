// A control group with a bound on memory, in which programs are killed by the kernel when they reach it:
// version 2 where the machine has that for memory, else version 1. Needs root.
import { existsSync, mkdirSync, rmdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const [V1, V2] = ["/sys/fs/cgroup/memory", "/sys/fs/cgroup"];
const isV2 = existsSync(join(V2, "cgroup.controllers"));
let made = 0;

export interface MemoryBound {
  /** Words before a program that is to run within it. */
  readonly command: readonly string[];
  /** Nothing runs in it any more. */
  remove(): void;
}

/** One for a program: among several the kernel takes whichever has most. */
export function memoryBound(megabytes: number): MemoryBound {
  const place = join(isV2 ? V2 : V1, `worker-faults-${process.pid}-${made++}`);
  const set = (name: string, value: number | string) =>
    writeFileSync(join(place, name), `${value}`);
  if (isV2) writeFileSync(join(V2, "cgroup.subtree_control"), "+memory");
  mkdirSync(place);
  set(isV2 ? "memory.max" : "memory.limit_in_bytes", megabytes * 1_048_576);
  const swap = isV2 ? "memory.swap.max" : "memory.swappiness";
  if (existsSync(join(place, swap))) set(swap, 0);
  const enter = `echo $$ >'${join(place, "cgroup.procs")}' && exec "$@"`;
  return { command: ["sh", "-c", enter, "sh"], remove: () => rmdirSync(place) };
}

/** Whether memoryBound() works here. */
export function boundsMemory(): boolean {
  try {
    memoryBound(100).remove();
    return true;
  } catch {
    return false;
  }
}
