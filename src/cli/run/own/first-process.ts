// The first process of a container inherits every process that a program leaves behind, and has to take note of
// its end: else a dead entry stays for each, up to the limit of processes. Node takes note only of what it has
// started itself, so the worker has a shell be the first process, and is its child. An init does the same.
import { accessSync, constants } from "node:fs";
import { isSea } from "node:sea";
import type { Logger } from "../../../base/logger.ts";

const SHELL = "/bin/sh";

// A shell waits for all children, also those that it has not started. A signal ends its `wait` and is passed on.
// Of a worker that has ended meanwhile a second `wait` gives the status, where the shell still knows it (not 127).
const script = (signals: readonly string[]) => `"$@" <&0 &
p=$!
${signals.map((name) => `trap 'kill -${name} $p 2>/dev/null' ${name}`).join("\n")}
while wait $p; s=$?; kill -0 $p 2>/dev/null; do :; done
wait $p 2>/dev/null; r=$?
[ $r -eq 127 ] || s=$r
exit $s`;

const isFirst = (): boolean => process.pid === 1 && process.platform === "linux";

/** Where this is the first process and there is a shell, begins anew as the shell's child and does not return. */
export function beginBelowShell(): void {
  // Sockets of a service manager are for the process of this number alone.
  if (!isFirst() || process.env["LISTEN_PID"] !== undefined || !isRunnable(SHELL)) return;
  // Ctrl-C on a terminal reaches all its processes, so the shell does not pass it on.
  const signals = process.stdin.isTTY ? ["TERM", "HUP"] : ["TERM", "HUP", "INT"];
  const ignored = process.stdin.isTTY ? "trap : INT\n" : "";
  const [, entry = "", ...words] = process.argv;
  const own = isSea() ? [process.execPath] : [process.execPath, ...process.execArgv, entry];
  const args = ["sh", "-c", `${ignored}${script(signals)}`, "worker", ...own, ...words];
  process.execve?.(SHELL, args, process.env);
}

/** Warns of programs in a container that has neither an init nor a shell. */
export function warnWithoutInit(logger: Logger): void {
  if (!isFirst()) return;
  logger.warn(
    {},
    "the worker is the first process of its container, and there is no shell: processes that programs leave behind stay as dead entries; run the container with an init (docker run --init, init: true in Compose, shareProcessNamespace: true in Kubernetes)",
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
