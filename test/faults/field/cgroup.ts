// Creates control groups with a memory limit. The kernel kills a program in the group if the limit is exceeded. The
// groups are of version 2 if the machine has it, otherwise of version 1. Only root can create them.
import { existsSync, mkdirSync, rmdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { codeOf } from "../../../src/base/errors.ts";
import { waitUntil } from "../../support/until.ts";

const [V1, V2] = ["/sys/fs/cgroup/memory", "/sys/fs/cgroup"];
const isV2 = existsSync(join(V2, "cgroup.controllers"));
let made = 0;

export interface MemoryBound {
  /** The first words of a command line. The program that runs in the group, and its arguments, follow these words. */
  readonly command: readonly string[];
  /** Waits until the group's program has ended, and removes the group. */
  remove(): Promise<void>;
}

/** Creates a group. Each program needs its own group: if programs share one, the kernel kills the largest of them. */
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
  const isRemoved = async (): Promise<boolean> => {
    try {
      rmdirSync(place);
      return true;
    } catch (error) {
      // A killed process still exists for a moment.
      if (codeOf(error) === "EBUSY") return false;
      throw error;
    }
  };
  const remove = () => waitUntil(`${place} is empty`, isRemoved);
  return { command: ["sh", "-c", enter, "sh"], remove };
}

/** Whether memoryBound() works on this machine. */
export async function boundsMemory(): Promise<boolean> {
  try {
    await memoryBound(100).remove();
    return true;
  } catch {
    return false;
  }
}
