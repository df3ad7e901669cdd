// Runs the worker of `worker run`, and with --admin the admin, until a stop is requested. With --once, the worker also
// stops when it has run all ready jobs of its tasks.

import { codeOf, messageOf } from "../../base/errors.ts";
import type { Logger } from "../../base/logger.ts";
import { createPool } from "../../database/connection/pool.ts";
import { schemaName } from "../../database/schema-name.ts";
import { valueText } from "../../domain/words.ts";
import { listTasks } from "../../insight/lists/list-tasks.ts";
import { createSampler } from "../../insight/snapshot/sampler.ts";
import type { WorkerOptions } from "../../worker/options/worker-options.ts";
import { drainOnce, workerForOnce } from "../../worker/run.ts";
import { Worker } from "../../worker/worker.ts";
import type { ExitStatus } from "../arguments/command.ts";
import { outliveOutput, print, printJson } from "../output/print.ts";
import { type ServiceManager, serviceManager } from "../service/service-manager.ts";
import {
  type CliConnectionSettings,
  commandLogger,
  connectionSettings,
} from "../shell/connection.ts";
import { adminBeside } from "./admin-beside.ts";
import { onlyNamedModules } from "./named-modules.ts";
import { ProgramHost } from "./programs/program-host.ts";
import type { RunArguments } from "./run-options.ts";
import { endSoon, StopRequests, stopOnUncaught } from "./stop-requests.ts";
import { workerOptions } from "./worker-options.ts";

/** Runs the worker until it has stopped. Throws UsageError for invalid files. */
export async function runWorker(
  args: RunArguments,
  stops = new StopRequests(),
  managerFor = serviceManager,
): Promise<ExitStatus> {
  // Tasks may print to stdout, and the worker must continue if stdout is closed.
  outliveOutput();
  const settings = connectionSettings(args);
  const logger = await commandLogger(args);
  const hasFailed = stopOnUncaught(stops, logger);
  const endedByTask = () => {
    if (stops.hasExited) return;
    logger.error({}, "a task has ended this process; other workers recover its jobs");
    process.exitCode = 1;
  };
  process.once("exit", endedByTask);
  try {
    onlyNamedModules();
    await using manager = managerFor(process.env, logger);
    await using programs = new ProgramHost(logger);
    const { run: runProgram } = programs;
    const options = await workerOptions(args, { settings, logger, runProgram });
    const names = options.tasks.map(({ identifier }) => identifier);
    logger.info({ tasks: names, concurrency: options.concurrency }, "the tasks are loaded");
    let worker: Worker | null = null;
    await using _admin = await adminBeside(
      ...([args, settings, stops, logger] as const),
      args.once ? undefined : () => worker,
    );
    const created = (one: Worker) => {
      worker = one;
    };
    const parts = { options, settings, stops, manager, logger, created };
    const status = await (args.once ? drain(parts, args) : work(parts));
    return hasFailed() ? 1 : status;
  } finally {
    process.off("exit", endedByTask);
    stops[Symbol.dispose]();
    endSoon(logger);
  }
}

interface RunParts {
  readonly options: WorkerOptions;
  readonly settings: CliConnectionSettings;
  readonly stops: StopRequests;
  readonly manager: ServiceManager;
  readonly logger: Logger;
  /** Called with the worker before the worker starts, but not with --once. */
  created(worker: Worker): void;
}

async function work({ options, stops, manager, logger, created }: RunParts): Promise<ExitStatus> {
  const worker = new Worker(options);
  created(worker);
  stops.for(worker);
  try {
    await worker.start();
  } catch (error) {
    if (stops.signal.aborted && codeOf(error) === "aborted") return 0;
    throw error;
  }
  await manager.ready(`${options.tasks.length} tasks`, stops.signal);
  await worker.stopped;
  // Without a request, the worker stops only after a migration to a version that the worker cannot use.
  return reportAbandoned(worker, logger) || !stops.signal.aborted ? 1 : 0;
}

async function drain(
  { options, settings, stops, manager, logger }: RunParts,
  { json }: RunArguments,
): Promise<ExitStatus> {
  await manager.ready("running all ready jobs", stops.signal);
  const { worker, result } = workerForOnce(options);
  stops.for(worker);
  await drainOnce(worker, stops.signal);
  const hasGivenUp = reportAbandoned(worker, logger);
  const { completed, failed, skipped } = result;
  if (json) printJson(JSON.stringify({ completed, failed, skipped }));
  else {
    const more = skipped === 0 ? "" : `, ${skipped} skipped`;
    print(`${completed} done, ${failed} failed${more}`);
    const left = hasGivenUp
      ? null
      : await readyElsewhere(settings, options, logger).catch((error: unknown) => {
          logger.warn({ error: messageOf(error) }, "the other ready jobs could not be read");
          return null;
        });
    if (left !== null) print(left);
  }
  return hasGivenUp ? 1 : 0;
}

function reportAbandoned({ hasAbandonedJobs }: Worker, logger: Logger): boolean {
  if (hasAbandonedJobs) logger.error({}, "the worker stopped waiting for jobs that did not end");
  return hasAbandonedJobs;
}

const MAX_NAMED = 5;

/** Returns a sentence about ready jobs whose tasks this worker does not have; null if there are none. */
async function readyElsewhere(
  settings: CliConnectionSettings,
  { tasks }: WorkerOptions,
  logger: Logger,
): Promise<string | null> {
  const own = new Set(tasks.map(({ identifier }) => identifier));
  const pool = createPool({ ...settings, logger });
  try {
    const database = { client: pool, schema: schemaName(settings.schema) };
    const { names } = await createSampler(database).pulse();
    const request = { search: "", sort: "-ready", limit: 500, cursor: null } as const;
    const { tasks: listed } = await listTasks(database, request, names);
    const left = listed.filter((one) => !own.has(one.identifier) && one.counts.ready.value > 0);
    if (left.length === 0) return null;
    const shown = left
      .slice(0, MAX_NAMED)
      .map((one) => `${one.identifier} ${valueText(one.counts.ready)}`);
    const more = left.length > MAX_NAMED ? `, and ${left.length - MAX_NAMED} more` : "";
    return `ready jobs of tasks that this worker does not have: ${shown.join(", ")}${more}`;
  } finally {
    await pool.end();
  }
}
