// Makes a task from a user's module. The module's default export is a function, as in Graphile Worker, or a task of
// defineTask(). If it is a function, the module can set the task's options with the exports `retry` and `timeoutMs`.
import type { SchemaName } from "../../database/schema-name.ts";
import { defineTask, type Task, type TaskOptions } from "../task/task.ts";
import type { TaskContext } from "../task/task-context.ts";
import { jobHelpers } from "./job-helpers.ts";
import { importModule } from "./module-file.ts";
import type { TaskFile } from "./task-files.ts";

/**
 * Returns the task of a module. Rejects with InputError, or with an Error whose message is the end of a sentence that
 * begins with the file's name, such as "has no default export".
 */
export async function moduleTask(file: TaskFile, schema: SchemaName): Promise<Task> {
  const { identifier, path } = file;
  const imported = await importModule(path);
  const found = imported.default;
  if (isTask(found)) {
    if (found.identifier === identifier) return found;
    throw new Error(
      `its task has the identifier "${found.identifier}", but its path requires "${identifier}"`,
    );
  }
  if (typeof found !== "function") throw new Error(exportProblem(found));
  const handler = (payload: unknown, context: TaskContext) =>
    found(payload, jobHelpers(context, schema));
  const [retry, timeoutMs] = ["retry", "timeoutMs"].map(imported.exportNamed);
  const options = { retry, timeoutMs } as TaskOptions; // defineTask() checks them
  // The return value of the function is evaluated as in Graphile Worker.
  return Object.freeze({ ...defineTask(identifier, handler, options), kind: "graphile" as const });
}

function isTask(value: unknown): value is Task {
  const { identifier, kind, handle } = (value ?? {}) as Partial<Task>;
  return typeof identifier === "string" && typeof kind === "string" && typeof handle === "function";
}

function exportProblem(found: unknown): string {
  if (found === undefined) {
    return "has no default export; a task is `export default async (payload, helpers) => …`";
  }
  const kind =
    found === null ? "null" : Array.isArray(found) ? "a list" : `of type ${typeof found}`;
  return `its default export must be a function (payload, helpers), or a task of defineTask() or defineBatchTask(); it is ${kind}`;
}
