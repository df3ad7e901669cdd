// Turns the arguments of `worker run` into worker options. Loads the files that the arguments name, and reports all
// problems of these files before anything starts.
import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { InputError, messageOf, type Problem } from "../../base/errors.ts";
import type { Logger } from "../../base/logger.ts";
import { parseCrontab } from "../../domain/cron/crontab.ts";
import type { LimitOptions } from "../../domain/limits/limit.ts";
import { loadTasks } from "../../worker/files/load-tasks.ts";
import { importModule } from "../../worker/files/module-file.ts";
import type { RunProgram } from "../../worker/files/run-program.ts";
import type { WorkerOptions } from "../../worker/options/worker-options.ts";
import type { Plugin } from "../../worker/task/hooks.ts";
import type { RetryPolicies, RetryPolicy } from "../../worker/task/retry.ts";
import { UsageError } from "../arguments/refusals.ts";
import type { CliConnectionSettings } from "../shell/connection.ts";
import { knownSecrets } from "./known-secrets.ts";
import type { RunArguments } from "./run-options.ts";

const ABORT_GRACE_MS = 5_000;
/**
 * A program that has to stop is killed after this part of --abort-grace. In the rest of that time the result of its job
 * is written.
 */
const KILL_AFTER = 0.8;

export interface WorkerParts {
  readonly settings: CliConnectionSettings;
  readonly logger: Logger;
  readonly runProgram: RunProgram;
}

/** Returns the options of the worker. Throws UsageError with all problems of the files, or if there is no task. */
export async function workerOptions(
  args: RunArguments,
  { settings, logger, runProgram }: WorkerParts,
): Promise<WorkerOptions> {
  const { connectionString, schema } = settings;
  const directory = resolve(args.tasks ?? "");
  const abortGraceMs = args.abortGrace ?? ABORT_GRACE_MS;
  const timeoutMs = args.timeout;
  const secrets = knownSecrets(connectionString, process.env);
  const killAfterMs = Math.ceil(abortGraceMs * KILL_AFTER);
  const [tasks, { plugins, retryPolicies, limits }, entries] = await allOf(
    () => loadTasks(directory, { schema, timeoutMs, killAfterMs, logger, runProgram, secrets }),
    () => loadPlugins(args.plugin ?? []),
    () => (args.crontab === undefined ? [] : readCrontab(args.crontab)),
  );
  if (tasks.length === 0) throw new UsageError(`--tasks: no task found in "${directory}"`, "run");
  const { fastLimit: limitMs } = args;
  return {
    ...{ tasks, plugins, retryPolicies, limits, cron: { entries } },
    ...{ connectionString, schema, logger, timeoutMs, abortGraceMs },
    concurrency: args.concurrency,
    maxConnections: args.maxConnections,
    stopTimeoutMs: args.stopTimeout,
    pollIntervalMs: args.pollInterval,
    forbiddenFlags: args.forbiddenFlag,
    fastLane: args.fast ? (limitMs === undefined ? true : { limitMs }) : false,
    connections: args.connections,
    localQueue: { size: args.localQueueSize },
    notify: args.notify,
    preparedStatements: args.preparedStatements,
    recovery: args.recovery ? undefined : false,
    schedules: args.schedules ? undefined : false,
    migrate: args.migrate,
  };
}

/**
 * Calls all `loads` and returns their results. If some of them throw InputError, throws one UsageError with all
 * problems.
 */
async function allOf<const R extends readonly unknown[]>(
  ...loads: { readonly [K in keyof R]: () => R[K] | Promise<R[K]> }
): Promise<R> {
  const problems: Problem[] = [];
  const results: unknown[] = [];
  for (const load of loads) {
    try {
      results.push(await load());
    } catch (error) {
      if (!(error instanceof InputError)) throw error;
      problems.push(...error.problems);
    }
  }
  if (problems.length === 0) return results as unknown as R;
  const named = problems.map(({ path, message }) => ({
    path: path === "tasks" ? "--tasks" : path,
    message,
  }));
  const lines = named.map(({ path, message }) => (path === "" ? message : `${path}: ${message}`));
  throw new UsageError(lines.join("; "), "run", lines);
}

/**
 * Loads the modules of --plugin. A module's default export is a plugin or a list of plugins. Its export `retryPolicies`
 * is an object of policies by name, and its export `limits` is a list of limits. A module with at least one of these
 * two exports needs no default export.
 */
async function loadPlugins(files: readonly string[]) {
  const plugins: Plugin[] = [];
  const retryPolicies: Record<string, RetryPolicy> = {};
  const limits: LimitOptions[] = [];
  const problems: Problem[] = [];
  for (const file of files) {
    const path = `--plugin "${file}"`;
    try {
      const imported = await importModule(resolve(file));
      const policies = imported.exportNamed("retryPolicies") as RetryPolicies | undefined;
      Object.assign(retryPolicies, policies);
      const exportedLimits = imported.exportNamed("limits") as LimitOptions[] | undefined;
      limits.push(...[exportedLimits ?? []].flat());
      const hasNoPlugin =
        (policies !== undefined || exportedLimits !== undefined) && imported.default === undefined;
      const found = hasNoPlugin ? [] : [imported.default].flat();
      if (found.every(isPlugin)) plugins.push(...found);
      else {
        const message = "its default export must be a plugin: { name, register(hooks) }";
        problems.push({ path, message });
      }
    } catch (error) {
      problems.push({ path, message: messageOf(error) });
    }
  }
  if (problems.length > 0) throw new InputError(problems);
  return { plugins, retryPolicies, limits };
}

function isPlugin(value: unknown): value is Plugin {
  return typeof (value as Partial<Plugin> | null | undefined)?.register === "function";
}

async function readCrontab(file: string) {
  const option = `--crontab "${file}"`;
  const text = await readFile(file, "utf8").catch((error: unknown) => {
    throw new InputError([{ path: option, message: `cannot be read: ${messageOf(error)}` }]);
  });
  try {
    return parseCrontab(text);
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    throw new InputError(
      error.problems.map(({ path, message }) => ({
        path: path === "" ? option : `${option}, ${path}`,
        message,
      })),
    );
  }
}
