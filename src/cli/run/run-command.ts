// worker run: a worker whose tasks are files.

import { adminNotes } from "../admin/admin-server.ts";
import { optionName } from "../arguments/command.ts";
import { UsageError } from "../arguments/refusals.ts";
import type { OptionValue } from "../arguments/values.ts";
import { defineCommand } from "../shell/globals.ts";
import { beginBelowShell } from "./own/first-process.ts";
import { aboutAdmin, runNotes, runOptions } from "./run-options.ts";

export const runCommand = defineCommand({
  name: "run",
  describe: "Run jobs: a worker whose tasks are the files of a directory",
  options: runOptions,
  notes: `${runNotes}\n\nOptions of the admin: ${adminNotes}`,
  // `suggest` is left out of `args`, because this command suggests no other commands, and because --watch sends `args`
  // to the worker's process in a message, which cannot contain a function.
  run: async ({ suggest: _, ...args }) => {
    const refuse = (message: string) => {
      throw new UsageError(message, "run");
    };
    if (args.tasks === undefined) refuse("--tasks is missing; it names the directory of the tasks");
    if (args.once && args.watch) refuse("use either --once or --watch");
    if (args.admin === undefined) {
      const values: Readonly<Record<string, unknown>> = args;
      const isGiven = ([key, option]: [string, OptionValue<unknown>]) =>
        values[key] !== option.read([]);
      const [alone] = Object.entries<OptionValue<unknown>>(aboutAdmin).find(isGiven) ?? [];
      if (alone !== undefined) refuse(`${optionName(alone)} needs --admin`);
    }
    if (args.once && args.admin !== undefined) refuse("use either --once or --admin");
    if (!args.fast && args.fastLimit !== undefined) refuse("--fast-limit needs --fast");
    beginBelowShell();
    if (args.watch) return (await import("./watch.ts")).runWatched(args);
    return (await import("./run-worker.ts")).runWorker(args);
  },
});
