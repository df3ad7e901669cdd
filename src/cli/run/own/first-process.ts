// The first process of a container must reap orphaned processes, which otherwise stay as zombies. Node reaps only its
// own children; a shell reaps inherited processes, too. So a worker that is the first process becomes the child of a
// shell.
import { accessSync, constants } from "node:fs";
import { isSea } from "node:sea";
import type { Logger } from "../../../base/logger.ts";

const SHELL = "/bin/sh";

// A signal to the shell ends the loop's `wait`, and the trap sends the signal to the worker. If the worker ends while
// no `wait` runs, the last `wait` returns the worker's status. If the loop's `wait` has already returned the status,
// the last `wait` may return 127.
const script = (signals: readonly string[]) => `"$@" <&0 &
p=$!
${signals.map((name) => `trap 'kill -${name} $p 2>/dev/null' ${name}`).join("\n")}
while wait $p; s=$?; kill -0 $p 2>/dev/null; do :; done
wait $p 2>/dev/null; r=$?
[ $r -eq 127 ] || s=$r
exit $s`;

const isFirst = (): boolean => process.pid === 1 && process.platform === "linux";

/** If possible, replaces the first process of a container by a shell that starts the same command again. */
export function beginBelowShell(): void {
  // The sockets of a service manager (LISTEN_PID) are for this process id only.
  if (!isFirst() || process.env["LISTEN_PID"] !== undefined || !isRunnable(SHELL)) return;
  // Ctrl-C on a terminal sends INT to the worker, too, so the shell does not pass INT on.
  const signals = process.stdin.isTTY ? ["TERM", "HUP"] : ["TERM", "HUP", "INT"];
  const ignored = process.stdin.isTTY ? "trap : INT\n" : "";
  const [, entry = "", ...words] = process.argv;
  const own = isSea() ? [process.execPath] : [process.execPath, ...process.execArgv, entry];
  const args = ["sh", "-c", `${ignored}${script(signals)}`, "worker", ...own, ...words];
  process.execve?.(SHELL, args, process.env);
}

/** If this is the first process of a container, warns that nothing reaps orphaned processes. */
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
