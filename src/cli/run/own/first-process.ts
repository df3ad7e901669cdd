// The first process of a container inherits orphaned processes and must reap them. Otherwise each of them stays as a
// zombie, until the limit of processes is reached. Node reaps only its own children. So if the worker is the first
// process, it becomes the child of a shell, which reaps inherited processes, too. If the container has an init, the
// worker is not the first process.
import { accessSync, constants } from "node:fs";
import { isSea } from "node:sea";
import type { Logger } from "../../../base/logger.ts";

const SHELL = "/bin/sh";

// A shell's `wait` reaps all children, also inherited ones. A signal ends the `wait`, and the trap sends the signal to
// the worker. If the worker ends before the loop waits again, the `wait` after the loop returns the worker's status. If
// the loop's `wait` has already returned this status, the `wait` after the loop may return 127.
const script = (signals: readonly string[]) => `"$@" <&0 &
p=$!
${signals.map((name) => `trap 'kill -${name} $p 2>/dev/null' ${name}`).join("\n")}
while wait $p; s=$?; kill -0 $p 2>/dev/null; do :; done
wait $p 2>/dev/null; r=$?
[ $r -eq 127 ] || s=$r
exit $s`;

const isFirst = (): boolean => process.pid === 1 && process.platform === "linux";

/**
 * Replaces this process by a shell, which starts the same command again as its child. Returns without an effect unless
 * this is the first process, /bin/sh can be executed, and LISTEN_PID is not set.
 */
export function beginBelowShell(): void {
  // A service manager's sockets are for this process id only, and the shell's child has another process id.
  if (!isFirst() || process.env["LISTEN_PID"] !== undefined || !isRunnable(SHELL)) return;
  // Ctrl-C on a terminal reaches the worker directly, so the shell does not pass it on.
  const signals = process.stdin.isTTY ? ["TERM", "HUP"] : ["TERM", "HUP", "INT"];
  const ignored = process.stdin.isTTY ? "trap : INT\n" : "";
  const [, entry = "", ...words] = process.argv;
  const own = isSea() ? [process.execPath] : [process.execPath, ...process.execArgv, entry];
  const args = ["sh", "-c", `${ignored}${script(signals)}`, "worker", ...own, ...words];
  process.execve?.(SHELL, args, process.env);
}

/**
 * If this process is the first of its container and could not become the child of a shell, warns that processes which
 * programs leave behind stay as zombies.
 */
export function warnWithoutInit(logger: Logger): void {
  if (!isFirst()) return;
  const isActivated = process.env["LISTEN_PID"] !== undefined;
  const why = isActivated ? "its sockets (LISTEN_PID) are for it alone" : "there is no shell";
  logger.warn(
    {},
    `the worker is the first process of its container, and ${why}: processes left behind by programs stay as zombies; run the container with an init (docker run --init, init: true in Compose, shareProcessNamespace: true in Kubernetes)`,
  );
}

function isRunnable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
