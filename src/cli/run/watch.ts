// `worker run --watch`: this process watches the files and, with --admin, serves the admin. The worker is a child
// process, which is replaced after a file has changed.
//
//   running ──change──▶ stopping: running jobs end ──the worker has ended──▶ running, from the changed files
//      └──the worker ends by itself (a load error, a crash)──▶ waiting ──change──▶ running
import type { ChildProcess } from "node:child_process";
import { resolve } from "node:path";
import { messageOf } from "../../base/errors.ts";
import type { Logger } from "../../base/logger.ts";
import type { ExitStatus } from "../arguments/command.ts";
import { type ServiceManager, serviceManager } from "../service/service-manager.ts";
import { commandLogger, connectionSettings } from "../shell/connection.ts";
import { adminBeside } from "./admin-beside.ts";
import { startOwnProcess } from "./own/own-process.ts";
import type { RunArguments } from "./run-options.ts";
import { StopRequests } from "./stop-requests.ts";
import { WatchedFiles } from "./watched-files.ts";
import type { WatchedReport } from "./watched-worker.ts";

export async function runWatched(args: RunArguments): Promise<ExitStatus> {
  const settings = connectionSettings(args);
  const logger = await commandLogger(args);
  using stops = new StopRequests();
  await using _admin = await adminBeside(args, settings, stops, logger);
  await using manager = serviceManager(process.env, logger);
  const onReady = readyOnce(manager, stops.signal);
  const { tasks = "", crontab, plugin = [] } = args;
  const named = [...plugin, ...(crontab === undefined ? [] : [crontab])];
  const workerArgs = { ...args, watch: false, admin: undefined };
  while (!stops.signal.aborted) {
    const files = new WatchedFiles(
      resolve(tasks),
      named.map((file) => resolve(file)),
    );
    await files.begin();
    await untilChanged(workerArgs, { files, onReady, stops, logger });
  }
  return 0;
}

function readyOnce(manager: ServiceManager, stop: AbortSignal): (status: string) => void {
  let hasReported = false;
  return (status) => {
    if (!hasReported) void manager.ready(status, stop);
    hasReported = true;
  };
}

interface Watching {
  readonly files: WatchedFiles;
  readonly onReady: (status: string) => void;
  readonly stops: StopRequests;
  readonly logger: Logger;
}

/** Runs one worker. Resolves when the worker has ended and, unless a stop was requested, a file has changed. */
async function untilChanged(
  args: RunArguments,
  { files, onReady, stops, logger }: Watching,
): Promise<void> {
  const worker = startOwnProcess({ be: "worker", args });
  worker.on("message", (report: WatchedReport) => {
    if ("loaded" in report) files.add(report.loaded);
    else onReady(report.ready);
  });
  const { promise: ended, resolve: end } = Promise.withResolvers<[number | null, string | null]>();
  // If the process cannot be started, "close" follows "error", at which once() of node:events would reject.
  worker.once("close", (status, killer) => end([status, killer]));
  worker.on("error", (error) => {
    logger.error({ error: messageOf(error) }, "the worker's process failed");
  });
  // stop() sends only one signal, because a second signal aborts the worker's jobs.
  let isStopping = false;
  const stop = (name: string) => {
    if (!isStopping) signal(worker, name);
    isStopping = true;
  };
  stops.for({ stop: async (name) => stop(name), abort: async (name) => signal(worker, name) });
  const changed = files.waitForChange(stops.signal);
  const first = await Promise.race([ended, changed]);
  if (stops.signal.aborted) {
    await ended;
    return;
  }
  if (!Array.isArray(first)) {
    logger.info(
      { file: first },
      "a file has changed: the worker restarts when its running jobs have ended",
    );
    stop("SIGTERM");
    await ended;
    return;
  }
  const [status, killer] = first;
  logger.warn({ status, signal: killer }, "the worker has ended; waiting for a file to change");
  await changed;
}

function signal(worker: ChildProcess, name: string): void {
  worker.kill(name === "SIGINT" ? "SIGINT" : "SIGTERM");
}
