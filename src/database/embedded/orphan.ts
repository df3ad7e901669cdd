// Stops the PostgreSQL server that a killed process left running on a data directory. The server is the process whose
// pid is in the directory's pid file and whose working directory is the data directory.
import { existsSync, readFileSync, readlinkSync, realpathSync, rmSync } from "node:fs";
import { join } from "node:path";
import { monotonic, wait } from "../../base/clock.ts";
import { codeOf } from "../../base/errors.ts";
import type { Logger } from "../../base/logger.ts";
import { isAlive } from "./owner.ts";
import { signalUntilGone } from "./program.ts";

const POLL_MS = 10;
const NEVER = new AbortController().signal;

/**
 * Stops the server that still runs on the data directory `cluster`. If there is no such server, removes the pid file,
 * because PostgreSQL mistakes any program with the file's pid for a server. Without /proc, does nothing.
 */
export async function stopOrphan(cluster: string, logger: Logger): Promise<void> {
  const [first] = pidFile(cluster);
  if (first === undefined) return;
  // Without /proc, the server cannot be recognized.
  if (!existsSync("/proc/self/cwd")) return;
  const pid = Number(first);
  if (!Number.isSafeInteger(pid) || pid <= 1 || !worksIn(pid, cluster)) {
    rmSync(join(cluster, "postmaster.pid"), { force: true });
    return;
  }
  logger.warn({ pid }, "stopping the PostgreSQL server that a killed process left behind");
  const isThere = () => isAlive(pid) && worksIn(pid, cluster);
  await signalUntilGone(
    (stopping) => {
      try {
        if (isThere()) process.kill(pid, stopping);
      } catch (error) {
        // The server has just ended.
        if (codeOf(error) !== "ESRCH") throw error;
      }
    },
    async (limitMs) => {
      const deadline = monotonic() + limitMs;
      while (isThere() && monotonic() < deadline) await wait(POLL_MS, NEVER);
      return !isThere();
    },
  );
}

function worksIn(pid: number, cluster: string): boolean {
  try {
    return readlinkSync(`/proc/${pid}/cwd`) === realpathSync(cluster);
  } catch {
    return false;
  }
}

/** Returns the lines of postmaster.pid; [] if the file is missing. The first line is the pid, the eighth the status. */
export function pidFile(cluster: string): string[] {
  try {
    const text = readFileSync(join(cluster, "postmaster.pid"), "utf8");
    return text.split("\n").map((line) => line.trim());
  } catch (error) {
    if (codeOf(error) === "ENOENT") return [];
    throw error;
  }
}
