// The tasks of a directory, as Graphile Worker finds them: modules by their default export, executable
// files as programs. All that is wrong with any of them is said at once.
import { InputError, messageOf, type Problem } from "../../base/errors.ts";
import { type Logger, silentLogger } from "../../base/logger.ts";
import { DEFAULT_SCHEMA, schemaName } from "../../database/schema-name.ts";
import type { Task } from "../task/task.ts";
import { moduleTask } from "./module-task.ts";
import { redactor } from "./program-log.ts";
import { programTask } from "./program-task.ts";
import { type RunProgram, runProgram } from "./run-program.ts";
import { findTaskFiles, type TaskFile } from "./task-files.ts";

/** What loadTasks() may be told. */
export interface LoadTasksOptions {
  /** The worker's schema: what programs find as WORKER_SCHEMA. Default `worker`. */
  readonly schema?: string;
  /** Stops a program that takes longer, milliseconds. Modules have the worker's `timeoutMs`. */
  readonly timeoutMs?: number | undefined;
  /** Between SIGTERM and SIGKILL, milliseconds; less than the worker's `abortGraceMs`. Default 4,000. */
  readonly killAfterMs?: number | undefined;
  /** Is told of files that are no tasks. Default: silent. */
  readonly logger?: Logger;
  /** What runs programs. Default: this process starts them. */
  readonly runProgram?: RunProgram;
  /** Texts that become •••• in what programs print and in their errors, such as the database's password. */
  readonly secrets?: readonly string[];
}

const KILL_AFTER_MS = 4_000;
const OPEN_TO_ALL =
  "every user of this machine may write to it, and so run code as this worker: chmod o-w";

/**
 * Makes a task of each file of a directory that is a module (.js .mjs .cjs .ts .mts) or executable, named
 * after its path: `mail/send.ts` is `mail/send`. A module's default export is a function, which is called
 * with `(payload, helpers)` and judged as in Graphile Worker (it fails by throwing alone, and what it
 * returns does not matter, but for a list beside a list), or a task of defineTask() with the
 * same name. A program gets `{"payload": …}` on its stdin; its exit code decides. Rejects with InputError.
 */
export async function loadTasks(
  directory: string,
  options: LoadTasksOptions = {},
): Promise<readonly Task[]> {
  const { logger = silentLogger, timeoutMs, killAfterMs = KILL_AFTER_MS } = options;
  const schema = schemaName(options.schema ?? DEFAULT_SCHEMA);
  const run = options.runProgram ?? runProgram;
  const found = await findTaskFiles(directory);
  const { tasks: files, ignored, problems: same } = found;
  for (const file of found.openToAll) logger.warn({ file }, OPEN_TO_ALL);
  for (const { name, reason } of ignored) logger.info({ file: name, reason }, "no task: ignored");
  const redacted = redactor(options.secrets ?? []);
  const programs = { schema: schema.name, timeoutMs, killAfterMs, run, redacted };
  const problems: Problem[] = [...same];
  const load = async (file: TaskFile) => {
    try {
      return file.kind === "program" ? programTask(file, programs) : await moduleTask(file, schema);
    } catch (error) {
      const path = file.name;
      if (error instanceof InputError) {
        problems.push(...error.problems.map(({ message }) => ({ path, message })));
      } else problems.push({ path, message: messageOf(error) });
      return [];
    }
  };
  // One after another: modules that share what they import are loaded in the same order each time.
  const tasks: Task[] = [];
  for (const file of files) tasks.push(...[await load(file)].flat());
  if (problems.length > 0) throw new InputError(problems);
  return tasks;
}
