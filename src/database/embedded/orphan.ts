// The server that a killed process left on a data directory: found by its pid file, known by its
// working directory, stopped before another is started.
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
 * Stops the server that a killed process left on `cluster`. A pid file that names a process of
 * another kind is removed: PostgreSQL would take that process for a server and refuse to start.
 */
export async function stopOrphan(cluster: string, logger: Logger): Promise<void> {
  const [first = ""] = pidFile(cluster);
  const pid = Number(first);
  if (!Number.isSafeInteger(pid) || pid <= 1) return;
  // Where processes cannot be looked at, PostgreSQL's own locks have to do.
  if (!existsSync("/proc/self/cwd")) return;
  if (!worksIn(pid, cluster)) {
    rmSync(join(cluster, "postmaster.pid"), { force: true });
    return;
  }
  logger.warn({ pid }, "stopping the PostgreSQL server that a killed process left behind");
  const isThere = () => isAlive(pid) && worksIn(pid, cluster);
  await signalUntilGone(
    (stopping) => isThere() && process.kill(pid, stopping),
    async (limitMs) => {
      const deadline = monotonic() + limitMs;
      while (isThere() && monotonic() < deadline) await wait(POLL_MS, NEVER);
      return !isThere();
    },
  );
}

/** Every server process works in its data directory: a sign that no other program bears. */
function worksIn(pid: number, cluster: string): boolean {
  try {
    return readlinkSync(`/proc/${pid}/cwd`) === realpathSync(cluster);
  } catch {
    return false;
  }
}

/** Lines of postmaster.pid: the first is the pid, the eighth the status. */
export function pidFile(cluster: string): string[] {
  try {
    const text = readFileSync(join(cluster, "postmaster.pid"), "utf8");
    return text.split("\n").map((line) => line.trim());
  } catch (error) {
    if (codeOf(error) === "ENOENT") return [];
    throw error;
  }
}
