// Loads the tasks of a directory, by Graphile Worker's rules.
import { InputError, messageOf, type Problem } from "../../base/errors.ts";
import { type Logger, silentLogger } from "../../base/logger.ts";
import { safeLogger } from "../../base/safe-logger.ts";
import { DEFAULT_SCHEMA, schemaName } from "../../database/schema-name.ts";
import type { Task } from "../task/task.ts";
import type { RunProgram } from "./run-program.ts";
import type { TaskFile } from "./task-files.ts";

/** Options of loadTasks(). */
export interface LoadTasksOptions {
  /** The worker's schema, for programs (WORKER_SCHEMA) and for the helper getQueueName(). Default `worker`. */
  readonly schema?: string;
  /** The time limit of a program, in milliseconds. Default: the worker's `timeoutMs`. Does not apply to modules. */
  readonly timeoutMs?: number | undefined;
  /**
   * The time between SIGTERM and SIGKILL when a program is stopped, in milliseconds. This time should be less
   * than the worker's `abortGraceMs`. Default 4,000.
   */
  readonly killAfterMs?: number | undefined;
  /** The logger for ignored files and unsafe file modes. Default: silent. */
  readonly logger?: Logger;
  /** The function that runs programs. Default: they are child processes of this process. */
  readonly runProgram?: RunProgram;
  /**
   * Texts, such as passwords, that are replaced by •••• in the output and the errors of programs. Texts of fewer than 4
   * characters are ignored. Default: none.
   */
  readonly secrets?: readonly string[];
}

const KILL_AFTER_MS = 4_000;
const OPEN_TO_ALL =
  "every user of this machine can write to it, and so run code as this worker: use chmod o-w";

/**
 * Returns the tasks of a directory, by Graphile Worker's rules. Each module (.js .mjs .cjs .ts .mts) and each other
 * executable file (a program) is a task. The task's identifier is the path of the file without extensions:
 * `mail/send.ts` is the task `mail/send`. The default export of a module is a function, or a task of defineTask() or
 * defineBatchTask() with this identifier. The function is called with `(payload, helpers)`. The attempt fails if the
 * function throws or rejects. If the payload and the return value are lists of the same length, an item of the payload
 * fails if the promise at the same index rejects. Any other return value is ignored. A program receives `{"payload":
 * …}` on stdin. The attempt succeeds only if the program's exit code is 0. If the directory cannot be read or files are
 * invalid, rejects with an InputError that lists all problems.
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
