// Loads the tasks of a directory, by Graphile Worker's rules. The task of a module is made from its default export.
// The task of any other executable file runs the file as a program. One error reports the problems of all files.
import { InputError, messageOf, type Problem } from "../../base/errors.ts";
import { type Logger, silentLogger } from "../../base/logger.ts";
import { safeLogger } from "../../base/safe-logger.ts";
import { DEFAULT_SCHEMA, schemaName } from "../../database/schema-name.ts";
import type { Task } from "../task/task.ts";
import type { RunProgram } from "./run-program.ts";
import type { TaskFile } from "./task-files.ts";

/** Options of loadTasks(). */
export interface LoadTasksOptions {
  /**
   * The worker's schema. Programs receive its name in WORKER_SCHEMA, and the helper getQueueName() reads the names of
   * queues from it. Default `worker`.
   */
  readonly schema?: string;
  /**
   * The time limit of a program, in milliseconds. Default: the worker's `timeoutMs`. Does not apply to modules.
   */
  readonly timeoutMs?: number | undefined;
  /**
   * The time between SIGTERM and SIGKILL when a program is stopped, in milliseconds. It should be less than the
   * worker's `abortGraceMs`. Default 4,000.
   */
  readonly killAfterMs?: number | undefined;
  /** The logger for ignored files and unsafe file modes. Default: silent. */
  readonly logger?: Logger;
  /** The function that runs programs. Default: they are child processes of this process. */
  readonly runProgram?: RunProgram;
  /**
   * Texts, such as the database's password, that are replaced by •••• in the output and the errors of programs. Texts
   * of fewer than 4 characters are ignored. Default: none.
   */
  readonly secrets?: readonly string[];
}

const KILL_AFTER_MS = 4_000;
const OPEN_TO_ALL =
  "every user of this machine can write to it, and so run code as this worker: use chmod o-w";

/**
 * Returns the tasks of a directory, as Graphile Worker finds them. Each module (.js .mjs .cjs .ts .mts) is a task, and
 * so is each executable file of another kind. The identifier of a task is the path of its file without extensions:
 * `mail/send.ts` is the task `mail/send`. The default export of a module is a function, which is called with
 * `(payload, helpers)` as in Graphile Worker. The attempt fails if the function throws or rejects. The return value is
 * ignored, unless the payload and the return value are lists of the same length. Then an item of the payload has failed
 * if the result at its place is a promise that rejects. The default export may also be a task that defineTask()
 * returned, with the identifier that the path requires. A program receives `{"payload": …}` on stdin; the attempt fails
 * unless the exit code is 0. If files are invalid, loadTasks() rejects with an InputError that lists all of them.
 */
export async function loadTasks(
  directory: string,
  options: LoadTasksOptions = {},
): Promise<readonly Task[]> {
  // These modules are loaded here, because a worker with its tasks in code never needs them.
  const { moduleTask } = await import("./module-task.ts");
  const { Secrets } = await import("./program-log.ts");
  const { programTask } = await import("./program-task.ts");
  const { runProgram } = await import("./run-program.ts");
  const { findTaskFiles } = await import("./task-files.ts");
  const { timeoutMs, killAfterMs = KILL_AFTER_MS } = options;
  const logger = safeLogger(options.logger ?? silentLogger);
  const schema = schemaName(options.schema ?? DEFAULT_SCHEMA);
  const run = options.runProgram ?? runProgram;
  const found = await findTaskFiles(directory);
  const { tasks: files, ignored } = found;
  for (const file of found.openToAll) logger.warn({ file }, OPEN_TO_ALL);
  for (const { name, reason } of ignored)
    logger.info({ file: name, reason }, "ignored a file that is not a task");
  const secrets = new Secrets(options.secrets ?? []);
  const programs = { schema: schema.name, timeoutMs, killAfterMs, run, secrets };
  const problems: Problem[] = [...found.problems];
  const load = async (file: TaskFile) => {
    try {
      return file.kind === "program" ? programTask(file, programs) : await moduleTask(file, schema);
    } catch (error) {
      const path = file.name;
      if (error instanceof InputError) {
        const ofFile = ({ path: field, message }: Problem) => {
          const name = /^options\.(\w+)$/.exec(field)?.[1];
          return { path, message: name === undefined ? message : `its export ${name} ${message}` };
        };
        problems.push(...error.problems.map(ofFile));
      } else problems.push({ path, message: messageOf(error) });
      return [];
    }
  };
  // In sequence, so that shared imports are loaded in the same order each time.
  const tasks: Task[] = [];
  for (const file of files) tasks.push(...[await load(file)].flat());
  if (problems.length > 0) throw new InputError(problems);
  return tasks;
}
