// Starts and stops PostgreSQL's main process, the postmaster. When this process ends or is killed, a shell stops
// the postmaster.
//
//   starting ──"ready" in postmaster.pid──▶ ready ──SIGINT──▶ (SIGQUIT ──▶ SIGKILL) ──▶ exited
import type { ChildProcess } from "node:child_process";
import { join } from "node:path";
import { monotonic, wait } from "../../base/clock.ts";
import { WorkerError } from "../../base/errors.ts";
import type { Logger } from "../../base/logger.ts";
import type { Account } from "./account.ts";
import { pidFile } from "./orphan.ts";
import { endsWithin, exitOf, lastLines, launch, signalUntilGone } from "./program.ts";

export interface Postmaster {
  readonly pid: number;
  /** Resolves when the process has ended. */
  readonly exited: Promise<void>;
  /** Stops the server with a fast shutdown; if that is too slow, with stronger signals. Idempotent; never rejects. */
  stop(): Promise<void>;
}

interface PostmasterOptions {
  readonly binaries: string;
  readonly cluster: string;
  readonly account: Account;
  readonly settings: Readonly<Record<string, string>>;
  readonly logger: Logger;
  readonly signal: AbortSignal;
}

// Recovery after a crash may replay a gigabyte of the write-ahead log.
const START_LIMIT_MS = 300_000;
const POLL_MS = 10;

// The shell's script. $1: the server's pid; $2: the pid file. The shell reads from a pipe. A line means that the server
// has ended. When this process ends, the pipe is closed. Then the shell stops the server, if the pid file still has the
// server's pid. Without this check, the signal could reach another process that now has the pid.
const WATCH = `trap "" INT TERM HUP
read -r word && exit 0
read -r pid < "$2"
[ "$pid" = "$1" ] && kill -INT "$1"`;

/** Starts the server on `cluster` and waits until the server accepts connections. */
export async function startPostmaster(options: PostmasterOptions): Promise<Postmaster> {
  const { cluster, account, logger, signal } = options;
  const program = join(options.binaries, "bin/postgres");
  const settings = Object.entries(options.settings).flatMap(([key, value]) => [
    "-c",
    `${key}=${value}`,
  ]);
  const child = launch(program, ["-D", cluster, ...settings], {
    account,
    cwd: cluster,
    stdio: ["ignore", "ignore", "pipe"],
  });
  const output = lastLines(child, (line) => log(logger, line));
  let failure: unknown = null;
  let hasExited = false;
  const exited = exitOf(program, child)
    .catch((error: unknown) => {
      failure = error;
    })
    .then(() => {
      hasExited = true;
    });
  if (child.pid === undefined) {
    await exited;
    throw failure;
  }
  const pid = child.pid;
  const watch = watchOver(pid, cluster, account, logger);
  void exited.then(() => watch.stdin?.end("stopped\n"));
  const stop = () =>
    signalUntilGone(
      (stopping) => child.kill(stopping),
      (limitMs) => endsWithin(limitMs, exited),
    );

  const deadline = monotonic() + START_LIMIT_MS;
  while (!isReady(cluster, pid)) {
    const late = monotonic() > deadline;
    if (!hasExited && !late && (await wait(POLL_MS, signal))) continue;
    await stop();
    if (signal.aborted) throw new WorkerError("aborted", "the start of PostgreSQL was cancelled");
    const why = late
      ? `was not ready after ${START_LIMIT_MS / 1000} s`
      : "ended before it was ready";
    throw new WorkerError("embedded_server", `PostgreSQL ${why}: ${output()}`);
  }
  return { pid, exited, stop };
}

function isReady(cluster: string, pid: number): boolean {
  const lines = pidFile(cluster);
  return lines[0] === String(pid) && lines[7] === "ready";
}

function watchOver(pid: number, cluster: string, account: Account, logger: Logger): ChildProcess {
  const args = ["-c", WATCH, "worker-watch", String(pid), join(cluster, "postmaster.pid")];
  const child = launch("/bin/sh", args, {
    account,
    cwd: "/",
    stdio: ["pipe", "ignore", "ignore"],
  });
  // If the system has /proc, the next start on the cluster stops a server that kept running (orphan.ts).
  child.on("error", (error) =>
    logger.debug(
      { err: error },
      "PostgreSQL is not watched: if this process is killed, PostgreSQL keeps running",
    ),
  );
  child.stdin?.on("error", () => {});
  // The shell must not keep this process alive.
  child.unref();
  (child.stdin as { unref?: () => void } | null)?.unref?.();
  return child;
}

function log(logger: Logger, line: string): void {
  const [, severity, message] = /^(\w+):\s+(.*)/s.exec(line) ?? [];
  if (severity === "FATAL" || severity === "PANIC") logger.warn({ severity }, `${message}`);
  else logger.debug({}, line);
}
